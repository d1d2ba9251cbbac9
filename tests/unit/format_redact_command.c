/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines and settings in, masked ones out; '|' stands for the NUL between arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/redact/redact_command.h"

struct row {
	const char *in, *out;
};
static const struct row commands[] = {
	{"app|--password=a b&c|--port=1", "app|--password=*****|--port=1"},
	{"app|--password|s3|--port|1", "app|--password|**|--port|1"},
	{"app|--password|--port|1", "app|--password|--port|1"},
	{"app|--api-key|k|--client_secret=x|-token|y",
	 "app|--api-key|*|--client_secret=*|-token|*"},
	{"java|-Dapi.token=x|-Dpass=y|-Dname=z|-jar|a.jar",
	 "java|-Dapi.token=*|-Dpass=*|-Dname=z|-jar|a.jar"},
	{"env|PGPASSWORD=x|FOO_TOKEN=y|PWD=/a|OLDPWD=/b|MYSQL_PWD=z|cmd",
	 "env|PGPASSWORD=*|FOO_TOKEN=*|PWD=/a|OLDPWD=/b|MYSQL_PWD=*|cmd"},
	{"/usr/bin/mysql|-u|me|-ps3cret|db", "/usr/bin/mysql|-u|me|-p******|db"},
	{"mysql|-p|db", "mysql|-p|db"},
	{"mysql|-u|ldapadmin|-ps3cret|db", "mysql|-u|ldapadmin|-p******|db"},
	{"redis-cli|-h|mysql-1|-a|x", "redis-cli|-h|mysql-1|-a|*"},
	{"mariadb-dump|-ps3", "mariadb-dump|-p**"},
	{"ssh|-p2222|host", "ssh|-p2222|host"},
	{"sudo|mysqladmin|-px|ping", "sudo|mysqladmin|-p*|ping"},
	{"redis-cli|-h|h|-a|pw|ping", "redis-cli|-h|h|-a|**|ping"},
	{"ls|-a|dir", "ls|-a|dir"},
	{"redis-server|--requirepass|pw", "redis-server|--requirepass|**"},
	{"curl|-u|me:pw|--user|a:b|-uc:d|--proxy-user=e:f|-U|g",
	 "curl|-u|me:**|--user|a:*|-uc:*|--proxy-user=e:*|-U|g"},
	{"curl|-H|Authorization: Bearer x|-HX-Api-Key: y|-H|Accept: z",
	 "curl|-H|Authorization:*********|-HX-Api-Key:**|-H|Accept: z"},
	{"wget|--header=Cookie: a=x|--header=Accept: z|sh|-c|wget --header='X-Api-Key: y'",
	 "wget|--header=Cookie:****|--header=Accept: z|sh|-c|wget --header='X-Api-Key:**'"},
	{"rclone|--sftp-pass=x|--webdav-pass|y|--no-bypass|z",
	 "rclone|--sftp-pass=*|--webdav-pass|*|--no-bypass|z"},
	{"curl|https://me:pw@h/?a=1&token=x|-d|{\"password\":\"y\"}",
	 "curl|https://me:**@h/?a=1&token=*|-d|{\"password\":\"*\"}"},
	{"psql|postgres://u:p@h:5432/db", "psql|postgres://u:*@h:5432/db"},
	{"sh|-c|mysql -px db && curl -H 'Authorization: Bearer y' -u a:'b c' h",
	 "sh|-c|mysql -p* db && curl -H 'Authorization:*********' -u a:'***' h"},
	{"sh|-c|TOKEN='a b' run --secret c", "sh|-c|TOKEN='***' run --secret *"},
	{"nginx: worker process", "nginx: worker process"},
	{"server --password=x --port 1", "server --password=* --port 1"},
	{"app|", "app|"},
	{"", ""},
	{"--password=", "--password="},
	{"--password", "--password"},
	{"-", "-"},
	{"Dpass=x", "Dpass=x"}, /* without reading before it */
};
static const struct row settings[] = {
	{"rw,username=a,password=b,c=d", "rw,username=a,password=*,c=d"},
	{"pass=a,,b,ro", "pass=****,ro"},
	{"user=a,pass2=b,password2=c,secret=d", "user=a,pass2=*,password2=*,secret=*"},
	{"password|a,b=c", "password|*****"},
	{"size|4k,b", "size|4k,b"},
	{"source|https://u:p@h/", "source|https://u:*@h/"},
	{"http://u:p@h/d", "http://u:*@h/d"},
	{"size=4k,mode=0755", "size=4k,mode=0755"},
	{"password=", "password="},
	{"password=,,", "password=**"},
	{",,password=a", ",,password=*"},
	{"password|", "password|"},
	{"a,password=b,", "a,password=*,"},
	{"", ""},
	{",", ","},
};

static int run(void (*redact)(char *text, size_t sz), const struct row *row)
{
	size_t sz = strlen(row->in);
	char *p = malloc(sz + 1), *exact = malloc(sz ? sz : 1);
	int failed;

	strcpy(p, row->in);
	for (size_t k = 0; k < sz; k++)
		if (p[k] == '|')
			p[k] = 0;
	memcpy(exact, p, sz);
	redact(exact, sz);
	for (size_t k = 0; k < sz; k++)
		p[k] = exact[k] ? exact[k] : '|';
	failed = strcmp(p, row->out) != 0;
	if (failed)
		printf("got    %s\nwanted %s\n", p, row->out);
	free(p);
	free(exact);
	return failed;
}

int main(void)
{
	size_t command_cnt = sizeof(commands) / sizeof(commands[0]);
	size_t setting_cnt = sizeof(settings) / sizeof(settings[0]);
	int failed = 0;

	for (size_t i = 0; i < command_cnt; i++)
		failed += run(redact_command, &commands[i]);
	for (size_t i = 0; i < setting_cnt; i++)
		failed += run(redact_settings, &settings[i]);
	printf("%zu command lines, %zu settings, %d failed\n", command_cnt, setting_cnt, failed);
	return failed != 0;
}
