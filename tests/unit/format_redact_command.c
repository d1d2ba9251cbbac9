/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines in, masked ones out; '|' stands for the NUL between arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/redact/redact_command.h"

static const struct {
	const char *in, *out;
} rows[] = {
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

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t sz = strlen(rows[i].in);
		char *p = malloc(sz + 1), *exact = malloc(sz ? sz : 1);

		strcpy(p, rows[i].in);
		for (size_t k = 0; k < sz; k++)
			if (p[k] == '|')
				p[k] = 0;
		memcpy(exact, p, sz);
		redact_command(exact, sz);
		for (size_t k = 0; k < sz; k++)
			p[k] = exact[k] ? exact[k] : '|';
		if (strcmp(p, rows[i].out)) {
			printf("got    %s\nwanted %s\n", p, rows[i].out);
			failed++;
		}
		free(p);
		free(exact);
	}
	printf("%zu command lines, %d failed\n", sizeof(rows) / sizeof(rows[0]), failed);
	return failed != 0;
}
