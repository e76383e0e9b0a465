/*
 * banned: functions that do not compile here, since each has a twin that
 * can't overrun, keep hidden state or hide an error.  C only: a C++ header may
 * name them.
 */
#ifndef CTS_BANNED_H
#define CTS_BANNED_H

#ifndef __cplusplus

/* Their declarations must be over before the names are taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CTS_BANNED(func) use_of_banned_function_##func

#undef strcpy
#define strcpy(...) CTS_BANNED(strcpy)
#undef strncpy
#define strncpy(...) CTS_BANNED(strncpy)
#undef stpcpy
#define stpcpy(...) CTS_BANNED(stpcpy)
#undef strcat
#define strcat(...) CTS_BANNED(strcat)
#undef strncat
#define strncat(...) CTS_BANNED(strncat)
#undef strtok
#define strtok(...) CTS_BANNED(strtok)
#undef sprintf
#define sprintf(...) CTS_BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) CTS_BANNED(vsprintf)
#undef gets
#define gets(...) CTS_BANNED(gets)
#undef atoi
#define atoi(...) CTS_BANNED(atoi)
#undef atol
#define atol(...) CTS_BANNED(atol)
#undef atoll
#define atoll(...) CTS_BANNED(atoll)
#undef atof
#define atof(...) CTS_BANNED(atof)
#undef localtime
#define localtime(...) CTS_BANNED(localtime)
#undef gmtime
#define gmtime(...) CTS_BANNED(gmtime)
#undef ctime
#define ctime(...) CTS_BANNED(ctime)
#undef asctime
#define asctime(...) CTS_BANNED(asctime)
#undef tmpnam
#define tmpnam(...) CTS_BANNED(tmpnam)
#undef tempnam
#define tempnam(...) CTS_BANNED(tempnam)
#undef mktemp
#define mktemp(...) CTS_BANNED(mktemp)
#undef rand
#define rand(...) CTS_BANNED(rand)
#undef srand
#define srand(...) CTS_BANNED(srand)

#endif
#endif
