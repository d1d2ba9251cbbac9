/* SPDX-License-Identifier: BSD-2-Clause */
#include "redact_names.h"

#include <string.h>
#include <strings.h>

bool redact_name_is_secret(const char *name, size_t len)
{
	static const char *const names[] = {
		"password", "passwd",	     "pass",	      "pwd",	 "secret",
		"token",    "access_token",  "refresh_token", "api_key", "x-api-key",
		"auth",	    "authorization", "client_secret", "jwt",	 "sig"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (len == strlen(names[i]) && !strncasecmp(name, names[i], len))
			return true;
	return false;
}
