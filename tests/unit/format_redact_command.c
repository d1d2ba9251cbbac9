/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines and settings in, masked ones out; '|' stands for the NUL between arguments. */
#include <stdbool.h>
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
	{"curl|-su|me:pw|-fsSLume:pw|-sSkb|a=b|-E|c.pem:pw|--cert=c.pem:pw|-o|out|-XPUT",
	 "curl|-su|me:**|-fsSLume:**|-sSkb|***|-E|c.pem:**|--cert=c.pem:**|-o|out|-XPUT"},
	{"sh|-c|curl -sku me:pw h|ldapsearch|-xw|pw|-xb|dc=a",
	 "sh|-c|curl -sku me:** h|ldapsearch|-xw|**|-xb|dc=a"},
	{"docker|login|-u|me|-p|pw|h|docker|run|--rm|x",
	 "docker|login|-u|me|-p|**|h|docker|run|--rm|x"},
	{"docker|run|-p|80:80|x", "docker|run|-p|80:80|x"},
	{"http|-a|me:pw|h|ab|-A|me:pw|-C|k=v", "http|-a|me:**|h|ab|-A|me:**|-C|***"},
	{"keytool|-storepass|a|-keypass|b|-alias|c", "keytool|-storepass|*|-keypass|*|-alias|c"},
	{"git|-c|http.extraHeader=Authorization: Basic x|clone",
	 "git|-c|http.extraHeader=Authorization:********|clone"},
	{"redis-cli|CONFIG|SET|requirepass|a|GET|maxmemory",
	 "redis-cli|CONFIG|SET|requirepass|*|GET|maxmemory"},
	{"aws|configure|set|aws_secret_access_key|a|set|region|b",
	 "aws|configure|set|aws_secret_access_key|*|set|region|b"},
	{"mysql|-e|CREATE USER u IDENTIFIED BY 'a b'; SELECT 'c'|-t",
	 "mysql|-e|CREATE USER u IDENTIFIED BY '***'; SELECT '*'|-t"},
	{"psql|-c|alter role me password 'x'|-c|SELECT 'password', 7",
	 "psql|-c|alter role me password '*'|-c|SELECT 'password', 7"},
	{"git|clone|https://pat@h/r|ssh://git@h/r|curl|http://h:80|--url=http://h:81|amqp://u:p",
	 "git|clone|https://***@h/r|ssh://git@h/r|curl|http://h:80|--url=http://h:81|amqp://u:*"},
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

/* Lines as typed into a shell, with the secrets between backquotes; all else must stay. */
static const char *const lines[] = {
	/* clang-format off */
	"mysql -u root -p`s3cret` db",
	"mysql -u root --password=`s3cret` -e 'select 1'",
	"mysqldump -uroot -p`s3cret` --all-databases",
	"mariadb-dump -u root -p`s3cret` db",
	"mariadb --user=u --password=`s3cret` db",
	"mysqladmin -u root password `s3cret`",
	"MYSQL_PWD=`s3cret` mysql -u root db",
	"psql \"host=h dbname=d user=u password=`s3cret`\"",
	"psql postgresql://u:`s3cret`@h:5432/d",
	"PGPASSWORD=`s3cret` pg_dump -h h -U u d",
	"pg_dump --dbname=postgresql://u:`s3cret`@h/d -f out.sql",
	"redis-cli -h h -p 6379 -a `s3cret` ping",
	"redis-cli -a`s3cret` ping",
	"redis-cli --pass `s3cret` ping",
	"redis-cli -h h AUTH `s3cret`",
	"redis-cli auth `me` `s3cret`",
	"redis-cli -u redis://me:`s3cret`@h:6379/0",
	"redis-cli CONFIG SET requirepass `s3cret`",
	"redis-cli acl setuser me '`on`' '`>s3cret`'",
	"valkey-cli AUTH `s3cret`",
	"redis-server --port 6379 --requirepass `s3cret`",
	"mongo --host h -u me -p `s3cret` admin",
	"mongosh mongodb://me:`s3cret`@h:27017/admin",
	"mongodump -u me --password `s3cret` --out /b",
	"mongorestore -u me -p `s3cret` d",
	"cqlsh -u me -p `s3cret` h 9042",
	"cassandra-stress write -mode user=me password=`s3cret`",
	"influx -username me -password `s3cret` -database d",
	"influx auth create --token `s3cret`",
	"clickhouse-client --user me --password `s3cret` -q 'select 1'",
	"cypher-shell -u neo4j -p `s3cret` 'match (n) return n'",
	"sqlcmd -S h -U sa -P `s3cret` -Q 'select 1'",
	"tsql -H h -p 1433 -U sa -P `s3cret`",
	"bcp t out f -S h -U sa -P `s3cret`",
	"beeline -u jdbc:hive2://h:10000 -n me -p `s3cret`",
	"couchbase-cli bucket-list -c h -u me -p `s3cret`",
	"influx -t `s3cret` query",
	"openssl enc -aes-256-cbc -k `s3cret` -in a -out b",
	"openssl enc -aes-256-cbc -K `00ff` -iv 00 -in a",
	"openssl enc -aes-256-cbc -pass `pass:s3cret` -in a",
	"openssl rsa -in k.pem -passin `pass:s3cret` -passout `pass:s3cret`",
	"openssl passwd -6 `s3cret`",
	"openssl s_client -psk `00ff` -connect h:443",
	"smbclient -U me%`s3cret` //h/s",
	"smbclient //h/s -U 'D\\me%`s3cret`' -c ls",
	"smbclient -Ume%`s3cret` -L h",
	"rpcclient -U me%`s3cret` h",
	"net rpc info -U me%`s3cret` -S h",
	"net ads join -U Administrator%`s3cret`",
	"smbget -U me%`s3cret` smb://h/s/f",
	"wbinfo -a me%`s3cret`",
	"mount.cifs //h/s /mnt -o username=me,password=`s3cret`",
	"mount -t cifs -o user=me,pass=`s3cret` //h/s /mnt",
	"htpasswd -nb me `s3cret`",
	"htpasswd -bc /etc/nginx/pw `me` `s3cret`",
	"htpasswd -b -B /etc/nginx/pw `me` `s3cret`",
	"mosquitto_passwd -b pwfile `me` `s3cret`",
	"mosquitto_pub -h h -u me -P `s3cret` -t t -m m",
	"rabbitmqctl add_user me `s3cret`",
	"rabbitmqctl change_password me `s3cret`",
	"rabbitmqctl -n r@h authenticate_user me `s3cret`",
	"rabbitmqadmin -u me -p `s3cret` list queues",
	"sshpass -p `s3cret` ssh -p 22 me@h ls -p",
	"sshpass -p`s3cret` scp -P 22 a h:b",
	"SSHPASS=`s3cret` sshpass -e ssh h",
	"plink -ssh h -l me -pw `s3cret` ls",
	"curl -u me:`s3cret` https://h/",
	"curl --user me:`s3cret` -o out https://h/",
	"curl -sS -H 'X-Api-Key:` s3cret`' https://h/",
	"curl -H 'Authorization:` Bearer s3cret`' https://h/",
	"curl https://me:`s3cret`@h/p?page=2",
	"curl 'https://h/?api_key=`s3cret`&n=1'",
	"curl --oauth2-bearer `s3cret` https://h/",
	"curl -F user=me -F password=`s3cret` https://h/",
	"curl --data-urlencode password=`s3cret` https://h/",
	"curl --proxy-user me:`s3cret` https://h/",
	"wget --user=me --password=`s3cret` https://h/f",
	"wget --http-password=`s3cret` --no-check-certificate https://h/f",
	"wget --post-data 'user=me&password=`s3cret`' https://h/f",
	"http -a me:`s3cret` GET https://h/",
	"aria2c --http-user=me --http-passwd=`s3cret` https://h/",
	"lftp -u me,`s3cret` ftp://h",
	"ldapsearch -x -H ldap://h -D cn=admin -w `s3cret` -b dc=a",
	"ldapmodify -xD cn=admin -w`s3cret` -f a.ldif",
	"ldappasswd -H ldap://h -s `s3cret` -a `s3cret` uid=me",
	"kadmin -p me/admin -w `s3cret` -q listprincs",
	"kadmin.local -q 'addprinc -pw `s3cret` me'",
	"docker login -u me -p `s3cret` h",
	"docker login --username me --password=`s3cret` h",
	"docker run -e POSTGRES_PASSWORD=`s3cret` -p 5432:5432 -d postgres",
	"docker run --name mongo -p 27017:27017 -e MONGO_INITDB_ROOT_PASSWORD=`s3cret` mongo",
	"docker exec -it db mysql -uroot -p`s3cret`",
	"echo `s3cret` | docker login -u me --password-stdin h",
	"kubectl create secret generic n --from-literal=k=`s3cret`",
	"kubectl create secret generic n --from-literal=user=`me` --from-literal k2=`s3cret` -n ns",
	"kubectl create secret docker-registry n --docker-username=me --docker-password=`s3cret`",
	"kubectl config set-credentials me --token=`s3cret`",
	"kubectl exec pod -- redis-cli -a `s3cret` info",
	"helm upgrade r c --set auth.rootPassword=`s3cret`",
	"aws configure set aws_secret_access_key `s3cret`",
	"aws secretsmanager put-secret-value --secret-id i --secret-string `s3cret`",
	"aws ssm put-parameter --name n --type SecureString --value `s3cret`",
	"AWS_SECRET_ACCESS_KEY=`s3cret` aws s3 ls s3://b",
	"az login --service-principal -u app -p `s3cret` --tenant t",
	"az storage blob list --account-name a --account-key `s3cret`",
	"az keyvault secret set --vault-name v --name n --value `s3cret`",
	"gh secret set NAME --body `s3cret`",
	"gcloud sql users set-password me --instance=i --password=`s3cret`",
	"git clone https://`s3cret`@h/r.git",
	"git clone https://me:`s3cret`@h/r.git /d",
	"git -c http.extraHeader='Authorization:` Bearer s3cret`' fetch",
	"vault login `s3cret`",
	"vault login -no-print `s3cret`",
	"vault operator unseal `s3cret`",
	"vault kv put secret/a password=`s3cret` user=me",
	"vault write -f auth/userpass/login/me password=`s3cret`",
	"VAULT_TOKEN=`s3cret` vault read secret/a",
	"consul members -token=`s3cret`",
	"npm config set //registry.npmjs.org/:_authToken=`s3cret`",
	"cargo login `s3cret`",
	"twine upload -u me -p `s3cret` dist/a",
	"gpg --batch --yes --passphrase `s3cret` -d f.gpg",
	"7z x -p`s3cret` a.7z",
	"7za a -t7z -p`s3cret` -mhe=on a.7z d",
	"zip -P `s3cret` -r a.zip d",
	"zip -rP `s3cret` a.zip d",
	"unzip -P `s3cret` a.zip",
	"unrar x -p`s3cret` a.rar",
	"rar a -hp`s3cret` a.rar d",
	"nmcli dev wifi connect ssid password `s3cret` ifname w0",
	"nmcli con modify c wifi-sec.psk `s3cret`",
	"nmcli con add type wifi ssid s 802-11-wireless-security.psk `s3cret` autoconnect yes",
	"wpa_passphrase ssid `s3cret`",
	"wpa_cli -i w0 set_network 0 psk `s3cret`",
	"java -Djavax.net.ssl.keyStorePassword=`s3cret` -Djavax.net.ssl.keyStore=/k -jar a.jar",
	"java -Dspring.datasource.password=`s3cret` -Xmx1g -jar a.jar",
	"keytool -list -keystore k.jks -storepass `s3cret`",
	"jarsigner -keystore k -storepass `s3cret` -keypass `s3cret` a.jar me",
	"snmpwalk -v2c -c `s3cret` h system",
	"snmpget -v3 -u me -A `s3cret` -X `s3cret` h o",
	"ipmitool -I lanplus -H h -U me -P `s3cret` chassis status",
	"ipmitool user set password `2` `s3cret`",
	"racadm -r h -u root -p `s3cret` getsysinfo",
	"xfreerdp /v:h /u:me /p:`s3cret` /size:800x600",
	"rdesktop -u me -p `s3cret` h",
	"pdftotext -upw `s3cret` a.pdf",
	"qpdf --password=`s3cret` --decrypt a.pdf b.pdf",
	"ansible-playbook -e ansible_ssh_pass=`s3cret` -i hosts p.yml",
	"ansible h -m ping -e ansible_become_pass=`s3cret`",
	"rclone config create r webdav pass=`s3cret`",
	"mc alias set m https://h `AK` `s3cret`",
	"s3cmd --access_key=`AK` --secret_key=`s3cret` ls",
	"restic -r s3:h/b --password-command 'cat f' backup",
	"borg init --encryption=repokey ssh://h/r",
	"swaks --to me --auth-user me --auth-password `s3cret`",
	"cloudflared tunnel run --token `s3cret`",
	"kubeadm join h:6443 --token `s3cret` --discovery-token-ca-cert-hash sha256:00",
	"echo `s3cret` | sudo -S ls -l",
	"echo '`s3cret`' | sudo -k -S ls -l",
	"printf '`%s\\n`' `s3cret` | sudo -Sk ls",
	"sudo -S ls -l <<< `s3cret`",
	"echo '`me:s3cret`' | chpasswd",
	"chpasswd <<< '`me:s3cret`'",
	"echo `s3cret` | passwd --stdin me",
	"echo `s3cret` | gpg --batch --passphrase-fd 0 -d f",
	"echo `s3cret` | gh auth login --with-token",
	"echo `s3cret` | cryptsetup luksOpen /dev/sdb1 d -",
	"bash -c \"sudo sh -c 'mysql -p`s3cret` db'\" && ssh -p22 h",
	"ssh h 'redis-cli -a `s3cret` info'; ssh -p 22 h",
	"echo `s3cret`|sudo -S ls | wc -l",
	"x=\"$(mysql -p`s3cret` db)\"; mkdir -pv mysql",
	"mysql -p`s3cret`;ssh -p22 h; ls",
	"redis-cli AUTH `s3cret` > out; ls a",
	"it's mysql -p`s3cret` db; ls",
	"TOKEN=`s3cret` run x && export A=1 KEY_TOKEN=`s3cret` B=2; ls",
	"sudo -S ls <<<'`s3cret`'",
	"chpasswd <<EOF\n`me:s3cret`\n`you:s3cret`\nEOF\nmysql db | cat; ls -p",
	"mysql -p`s3cret` db | cat\nmkdir -pv mysql\nssh -p22 h",
	/* clang-format on */
};
/* Lines without a secret. */
static const char *const plain[] = {
	/* clang-format off */
	"cp -p a b",
	"cp -pr /var/lib/mysql /backup/mysql",
	"mkdir -p /a/b",
	"mkdir -pv mysql",
	"ssh -p 22 h",
	"ssh -p2222 me@mysql-1",
	"ssh -i key.pem -k h",
	"tar -p -xf a.tar",
	"tar -xpf a.tar",
	"tar --owner mysql:mysql -pcf a.tar d",
	"nginx -c /etc/nginx.conf -p /usr/share/nginx",
	"grep -k x f",
	"grep -rn password src",
	"sort -k 2 -u f",
	"ls -la",
	"ps -p 1 -o pid,comm",
	"netstat -tlnp",
	"docker run -p 80:80 -d nginx",
	"docker run --name mongo -p 27017:27017 -d mongo",
	"docker run --name mongo -p 127.0.0.1:27017:27017/tcp -d mongo",
	"docker ps -a",
	"docker build -t i:v .",
	"kubectl create configmap n --from-literal=k=v",
	"kubectl get secret n -o yaml",
	"kubectl get pods -n ns -l app=redis",
	"openssl x509 -in c.pem -noout -keyform PEM",
	"openssl req -new -key k.pem -out c.csr -keyout k2.pem",
	"openssl s_client -connect h:443 -keymatexport a",
	"openssl enc -kfile f -in a",
	"redis-cli -h h -p 6379 info",
	"redis-cli config set maxmemory 1g",
	"redis-cli set user:1 x",
	"mysql -u root -p db",
	"mysql -h h -P 3306 db",
	"mysqld --port=3306 --datadir=/d",
	"psql -U me -p 5432 -d d -W",
	"pg_ctl -D /d -l log start",
	"htpasswd -c /etc/pw me",
	"htpasswd -D /etc/pw me",
	"rabbitmqctl list_users -p /vhost",
	"rabbitmqctl set_permissions -p /v me .* .* .*",
	"rabbitmqctl delete_user me",
	"vault read secret/a",
	"vault status -address=https://h:8200",
	"vault kv get -field=x secret/a",
	"nmcli dev wifi list",
	"nmcli con up c ifname w0",
	"gpg --passphrase-file f -d a",
	"gpg -k",
	"7z x a.7z -o/d",
	"zip -r a.zip d",
	"unrar x a.rar",
	"git push origin main",
	"git clone https://h/r.git",
	"git clone ssh://git@h:22/r.git",
	"git commit -m 'token renewal, password reset'",
	"curl -o out -L https://h:8443/p?page=2",
	"curl -X POST -d '{\"name\":\"me\",\"value\":\"x\"}' https://h/",
	"wget -q -O - https://h/f",
	"smbclient -L h -N",
	"smbclient //h/s -U me -c ls",
	"net use x:",
	"java -Djava.security.egd=file:/dev/urandom -cp a.jar Main",
	"aws configure set region eu-west-1",
	"aws s3 cp a s3://b/k",
	"az login --use-device-code",
	"echo hello | sudo tee /etc/motd",
	"echo hello | grep -S x",
	"echo hello; sudo -S ls",
	"printf '%s' a | wc -c",
	"sudo -u me ls -p",
	"sudo systemctl restart nginx",
	"make -k -j2",
	"tcpdump -pw f.pcap",
	"rsync -e 'ssh -p 22' -pr a h:b",
	"nc -p 80 h 443",
	"iptables -A INPUT -p tcp --dport 22 -j ACCEPT",
	"iptables -t nat -A PREROUTING -p tcp -j REDIRECT",
	"lsof -p 1",
	"strace -p 1 -e trace=openat",
	"perf record -p 1 -a -g",
	"pkill -P 1",
	"find / -name '*.key' -print",
	"sed -e s/password/x/ f",
	"awk -F: '{print $1}' /etc/passwd",
	"cat /etc/passwd",
	"vi password.txt",
	"python3 -m http.server 8000",
	"sshd -D -p 22",
	"su -p - me",
	"useradd -p x me",
	"chown -R mysql:mysql /d",
	"systemd-run -p MemoryMax=1G ls",
	"wpa_supplicant -i w0 -c /etc/w.conf",
	"sh -c 'mysql db && ssh -p2222 h'",
	"sh -c 'mysql -e \"select 1\" db; mkdir -pv d'",
	"nginx: worker process",
	"postgres: checkpointer",
	"/usr/lib/jvm/bin/java -Xmx1g -jar a.jar --port=80",
	/* clang-format on */
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

enum { LINE_MAX_SZ = 512 };

/* The text to mask and what it must become. */
struct masked {
	char in[LINE_MAX_SZ], out[LINE_MAX_SZ];
	size_t sz;
};

static void put(struct masked *m, char ch, bool secret)
{
	m->in[m->sz] = ch;
	m->out[m->sz++] = secret ? '*' : ch;
}

/* A line as text of a shell, or as the arguments that a shell makes of it. */
static struct masked read_line(const char *line, bool text)
{
	struct masked m = {.sz = 0};
	bool secret = false;
	char quote = 0;

	for (const char *p = text ? "sh|-c|" : ""; *p; p++)
		put(&m, *p == '|' ? 0 : *p, false);
	for (const char *p = line; *p; p++) {
		if (*p == '`')
			secret = !secret;
		else if (text)
			put(&m, *p, secret);
		else if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
		else
			put(&m, *p == ' ' && !quote ? 0 : *p, secret);
	}
	return m;
}

/* Whether it is more than a single command, which only a shell understands. */
static bool is_script(const char *line)
{
	return strstr(line, " | ") || strstr(line, "<<<") || strstr(line, "; ") ||
	       strstr(line, " && ");
}

static int check_line(const char *line, bool text)
{
	struct masked m = read_line(line, text);
	char *exact = malloc(m.sz);
	int failed;

	memcpy(exact, m.in, m.sz);
	redact_command(exact, m.sz);
	failed = memcmp(exact, m.out, m.sz) != 0;
	for (size_t i = 0; i < m.sz; i++)
		exact[i] = exact[i] ? exact[i] : '|';
	if (failed)
		printf("%s: %s\n  got '%.*s'\n", text ? "text" : "arguments", line, (int)m.sz,
		       exact);
	free(exact);
	return failed;
}

static int check_lines(const char *const *v, size_t cnt)
{
	int failed = 0;

	for (size_t i = 0; i < cnt; i++) {
		failed += check_line(v[i], true);
		failed += !is_script(v[i]) && check_line(v[i], false);
	}
	return failed;
}

int main(void)
{
	size_t command_cnt = sizeof(commands) / sizeof(commands[0]);
	size_t setting_cnt = sizeof(settings) / sizeof(settings[0]);
	size_t line_cnt = sizeof(lines) / sizeof(lines[0]);
	size_t plain_cnt = sizeof(plain) / sizeof(plain[0]);
	int failed = check_lines(lines, line_cnt) + check_lines(plain, plain_cnt);

	for (size_t i = 0; i < command_cnt; i++)
		failed += run(redact_command, &commands[i]);
	for (size_t i = 0; i < setting_cnt; i++)
		failed += run(redact_settings, &settings[i]);
	printf("%zu command lines, %zu settings, %d failed\n", command_cnt + line_cnt + plain_cnt,
	       setting_cnt, failed);
	return failed != 0;
}
