/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP over TLS with whatever library this is linked with: OpenSSL 1.1 and 3, BoringSSL, shared and
 * static. Blocking, one connection at a time, many requests in each.
 *
 *   tls_peer serve PORT CERT KEY | get PORT COUNT TAG
 */
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "tls_peer: %s failed\n", what);
	exit(1);
}

static struct sockaddr_in address(const char *port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(atoi(port)),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Reads on until that is the end of what came. */
static int read_until(SSL *ssl, const char *end)
{
	static char buf[65536];
	size_t have = 0, len = strlen(end);
	int n;

	while (have < len || memcmp(buf + have - len, end, len)) {
		n = SSL_read(ssl, buf + have, sizeof(buf) - have);
		if (n <= 0)
			return -1;
		have += n;
	}
	return 0;
}

static int serve(SSL_CTX *ctx, char **arg)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	struct sockaddr_in a = address(arg[0]);
	int l = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (SSL_CTX_use_certificate_file(ctx, arg[1], SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_use_PrivateKey_file(ctx, arg[2], SSL_FILETYPE_PEM) != 1)
		die("reading the certificate");
	if (bind(l, (void *)&a, sizeof(a)) || listen(l, 8))
		die("listen");
	for (;;) {
		int fd = accept(l, NULL, NULL);
		SSL *ssl = SSL_new(ctx);

		SSL_set_fd(ssl, fd);
		if (SSL_accept(ssl) == 1)
			while (!read_until(ssl, "\r\n\r\n") &&
			       SSL_write(ssl, answer, sizeof(answer) - 1) > 0)
				;
		ERR_clear_error();
		SSL_free(ssl);
		close(fd);
	}
}

static int get(SSL_CTX *ctx, char **arg)
{
	struct sockaddr_in a = address(arg[0]);
	int fd = socket(AF_INET, SOCK_STREAM, 0), n;
	SSL *ssl = SSL_new(ctx);
	char request[256];

	if (connect(fd, (void *)&a, sizeof(a)))
		die("connect");
	SSL_set_fd(ssl, fd);
	if (SSL_connect(ssl) != 1)
		die("the handshake");
	for (int i = 0; i < atoi(arg[1]); i++) {
		n = snprintf(request, sizeof(request), "GET /%s/%d HTTP/1.1\r\nHost: x\r\n\r\n",
			     arg[2], i);
		if (SSL_write(ssl, request, n) != n || read_until(ssl, "\r\n\r\nok"))
			die("a request");
	}
	SSL_shutdown(ssl);
	SSL_free(ssl);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());

	if (!ctx || argc != 5)
		die("starting");
	return strcmp(argv[1], "serve") ? get(ctx, argv + 2) : serve(ctx, argv + 2);
}
