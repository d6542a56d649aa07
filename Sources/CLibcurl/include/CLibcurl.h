// The functions and constants of libcurl that the package uses, without libcurl's own headers.
//
// The library is loaded at run time. The constants have libcurl's names with a leading `C`, so that this header can be
// used together with libcurl's own headers. https://curl.se/libcurl/c/ documents them.
#ifndef CLIBCURL_H
#define CLIBCURL_H

#include "CDecoding.h"

#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Loading

enum CLibcurlLoadResult {
    CLIBCURL_LOADED,
    /// The system has no library of that name.
    CLIBCURL_NOT_FOUND,
    /// The library is older than 7.68, lacks a function, or cannot be initialized.
    CLIBCURL_TOO_OLD
};

/// Loads the library once per process. After the first success, other names are ignored. Safe to call from every
/// thread.
enum CLibcurlLoadResult clibcurl_load(const char *name);

/// Returns the result of `curl_version()`: `libcurl/7.88.1 OpenSSL/3.0.19 …`. NULL if no library is loaded.
const char *clibcurl_version(void);

/// Returns the features that the library was built with, as bits of `CCURL_VERSION_…`. Zero if no library is loaded.
int clibcurl_features(void);

/// Returns the library's version as `0xMMmmpp`: 7.88.1 is 0x075801. Zero if no library is loaded.
unsigned int clibcurl_version_number(void);

enum {
    CCURL_VERSION_IPV6 = 1 << 0,
    CCURL_VERSION_SSL = 1 << 2,
    CCURL_VERSION_LIBZ = 1 << 3,
    CCURL_VERSION_ASYNCHDNS = 1 << 7,
    CCURL_VERSION_HTTP2 = 1 << 16,
    CCURL_VERSION_UNIX_SOCKETS = 1 << 19,
    CCURL_VERSION_HTTPS_PROXY = 1 << 21
};

// MARK: Easy handles

void *clibcurl_easy_init(void);
void clibcurl_easy_cleanup(void *easy);
int clibcurl_easy_pause(void *easy, int directions);
const char *clibcurl_easy_strerror(int code);
/// Sends bytes on the connection of a handle with `CURLOPT_CONNECT_ONLY`. After `CURLE_AGAIN`, the same bytes at the
/// same address must be sent next.
int clibcurl_easy_send(void *easy, const void *bytes, size_t count, size_t *sent);
/// Receives bytes on the connection of a handle with `CURLOPT_CONNECT_ONLY`. No bytes without an error are the end of
/// the connection.
int clibcurl_easy_recv(void *easy, void *bytes, size_t count, size_t *received);
/// Returns the socket of the connection of a handle with `CURLOPT_CONNECT_ONLY`; -1 if there is none.
int clibcurl_easy_get_socket(void *easy);

int clibcurl_easy_set_long(void *easy, int option, long value);
int clibcurl_easy_set_offset(void *easy, int option, int64_t value);
int clibcurl_easy_set_pointer(void *easy, int option, const void *value);
int clibcurl_easy_set_text(void *easy, int option, const char *value);
int clibcurl_easy_set_blob(void *easy, int option, const void *bytes, size_t count);
int clibcurl_easy_set_transfer(void *easy, int option, size_t (*function)(char *, size_t, size_t, void *));
int clibcurl_easy_set_seek(void *easy, int option, int (*function)(void *, int64_t, int));
int clibcurl_easy_set_open_socket(void *easy, int option, int (*function)(void *, int, void *));
int clibcurl_easy_set_close_socket(void *easy, int option, int (*function)(void *, int));
int clibcurl_easy_set_debug(void *easy, int option, int (*function)(void *, int, char *, size_t, void *));
int clibcurl_easy_set_progress(
    void *easy, int option, int (*function)(void *, int64_t, int64_t, int64_t, int64_t));
int clibcurl_easy_set_prereq(void *easy, int option, int (*function)(void *, char *, char *, int, int));
int clibcurl_easy_set_resolver_start(void *easy, int option, int (*function)(void *, void *, void *));
/// Limits what a server can do with TLS messages after the handshake, if libcurl uses OpenSSL. libcurl then returns to
/// the loop after each message that is no data of the app. Unless `renegotiates` is true, a server of TLS 1.2 cannot
/// demand further handshakes, which take much more time than their bytes.
void clibcurl_easy_limit_handshakes(void *easy, bool renegotiates);

long clibcurl_easy_get_long(void *easy, int info);
int64_t clibcurl_easy_get_offset(void *easy, int info);
void *clibcurl_easy_get_pointer(void *easy, int info);
const char *clibcurl_easy_get_text(void *easy, int info);
/// Returns the version of TLS on the connection in use, such as `TLSv1.3`. NULL if there is no TLS, if it is not known,
/// or after the transfer has ended.
const char *clibcurl_easy_tls_version(void *easy);

/// Watches whether the server ends TLS on the connection in use with a closure alert, if libcurl uses OpenSSL. Returns
/// whether the connection is watched: then `is_closed` is set when the alert arrives, and must stay valid until the
/// transfer has ended.
bool clibcurl_easy_watch_closure(void *easy, bool *is_closed);

/// A linked list of header lines, in the form that `CURLOPT_HTTPHEADER` expects.
struct clibcurl_slist {
    char *data;
    struct clibcurl_slist *next;
};

/// The socket that an open-socket function must open: the first members of `struct curl_sockaddr`.
struct clibcurl_sockaddr {
    int family;
    int socktype;
    int protocol;
};

// MARK: Multi handles

void *clibcurl_multi_init(void);
int clibcurl_multi_cleanup(void *multi);
int clibcurl_multi_add(void *multi, void *easy);
int clibcurl_multi_remove(void *multi, void *easy);
int clibcurl_multi_socket_action(void *multi, int socket, int events);
int clibcurl_multi_socket_all(void *multi);
/// Returns the next transfer that has ended, or NULL. Stores its result code in `result`.
void *clibcurl_multi_next_ended(void *multi, int *result);
int clibcurl_multi_set_long(void *multi, int option, long value);
int clibcurl_multi_set_pointer(void *multi, int option, void *value);
int clibcurl_multi_set_socket(void *multi, int option, int (*function)(void *, int, int, void *, void *));
int clibcurl_multi_set_timer(void *multi, int option, int (*function)(void *, long, void *));
/// Used only by the benchmarks, in a plain loop for comparison.
int clibcurl_multi_perform(void *multi, int *running);
int clibcurl_multi_poll(void *multi, int timeout_ms);

// MARK: Shared caches

void *clibcurl_share_init(void);
int clibcurl_share_cleanup(void *share);
int clibcurl_share_set_long(void *share, int option, long value);

// MARK: Waiting for sockets, with libcurl's constants for events

/// A socket and the events on it, as bits of `CCURL_CSELECT_…`.
struct clibcurl_event {
    int socket;
    int events;
};

/// Creates a list of sockets in the kernel (epoll). Returns -1 and sets `errno` if no file descriptor is left.
int clibcurl_epoll_create(void);
/// Adds a socket to the list, or changes the events that the list reports for this socket: `CCURL_POLL_IN`, `…_OUT`,
/// `…_INOUT`. The value 0 removes the socket from the list.
int clibcurl_epoll_set(int epoll, int socket, int wanted);
/// Waits for at most `timeout_ms` milliseconds (-1: without limit), and stores at most `count` events. Returns the
/// number of stored events.
int clibcurl_epoll_wait(int epoll, struct clibcurl_event *events, int count, int timeout_ms);
/// Creates an alarm (eventfd) on the list. Any thread can ring it. Returns -1 and sets `errno` if no file descriptor is
/// left.
int clibcurl_alarm_create(int epoll);
void clibcurl_alarm_ring(int alarm);
/// Replaces a socket with a socket whose peer is closed. This ends the connection of the replaced socket. Returns -1
/// and sets `errno` if no file descriptor is left.
int clibcurl_socket_end(int socket);
/// Ends the connection of a socket in both directions. What has been sent still arrives.
void clibcurl_socket_shutdown(int socket);

// MARK: Threads

/// Stores the object that the current thread belongs to.
void clibcurl_thread_set_owner(void *owner);
/// The object that the current thread belongs to; null on threads of other code.
void *clibcurl_thread_owner(void);

// MARK: Options

enum {
    CCURLOPT_SSLVERSION = 32,
    CCURLOPT_VERBOSE = 41,
    CCURLOPT_NOPROGRESS = 43,
    CCURLOPT_NOBODY = 44,
    CCURLOPT_UPLOAD = 46,
    CCURLOPT_HTTPPROXYTUNNEL = 61,
    CCURLOPT_FRESH_CONNECT = 74,
    CCURLOPT_FORBID_REUSE = 75,
    CCURLOPT_HTTPGET = 80,
    CCURLOPT_BUFFERSIZE = 98,
    CCURLOPT_HTTP_VERSION = 84,
    CCURLOPT_NOSIGNAL = 99,
    CCURLOPT_IPRESOLVE = 113,
    CCURLOPT_CONNECT_ONLY = 141,
    CCURLOPT_CONNECTTIMEOUT_MS = 156,
    CCURLOPT_PROTOCOLS = 181,
    CCURLOPT_RTSP_REQUEST = 189,
    CCURLOPT_PATH_AS_IS = 234,
    CCURLOPT_PROXY_SSLVERSION = 250,
    CCURLOPT_PIPEWAIT = 237,
    CCURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
    CCURLOPT_UPLOAD_BUFFERSIZE = 280,
    CCURLOPT_CA_CACHE_TIMEOUT = 321,
    CCURLOPT_QUICK_EXIT = 322,

    CCURLOPT_WRITEDATA = 10001,
    CCURLOPT_URL = 10002,
    CCURLOPT_PROXY = 10004,
    CCURLOPT_READDATA = 10009,
    CCURLOPT_ERRORBUFFER = 10010,
    CCURLOPT_HTTPHEADER = 10023,
    CCURLOPT_SSLCERT = 10025,
    CCURLOPT_SSL_CIPHER_LIST = 10083,
    CCURLOPT_SSL_EC_CURVES = 10298,
    CCURLOPT_KEYPASSWD = 10026,
    CCURLOPT_HEADERDATA = 10029,
    CCURLOPT_CUSTOMREQUEST = 10036,
    CCURLOPT_CAINFO = 10065,
    CCURLOPT_SSLCERTTYPE = 10086,
    CCURLOPT_SSLKEY = 10087,
    CCURLOPT_CAPATH = 10097,
    CCURLOPT_DEBUGDATA = 10095,
    CCURLOPT_SHARE = 10100,
    CCURLOPT_ACCEPT_ENCODING = 10102,
    CCURLOPT_PRIVATE = 10103,
    CCURLOPT_OPENSOCKETDATA = 10164,
    CCURLOPT_COPYPOSTFIELDS = 10165,
    CCURLOPT_SEEKDATA = 10168,
    CCURLOPT_NOPROXY = 10177,
    CCURLOPT_RESOLVE = 10203,
    CCURLOPT_CLOSESOCKETDATA = 10209,
    CCURLOPT_PINNEDPUBLICKEY = 10230,
    CCURLOPT_UNIX_SOCKET_PATH = 10231,
    CCURLOPT_PROXY_CAINFO = 10246,
    CCURLOPT_PROXY_CAPATH = 10247,
    CCURLOPT_PROXY_SSL_CIPHER_LIST = 10259,
    CCURLOPT_REQUEST_TARGET = 10266,
    CCURLOPT_RESOLVER_START_DATA = 10273,
    CCURLOPT_XFERINFODATA = 10057,
    CCURLOPT_PREREQDATA = 10313,

    CCURLOPT_WRITEFUNCTION = 20011,
    CCURLOPT_READFUNCTION = 20012,
    CCURLOPT_HEADERFUNCTION = 20079,
    CCURLOPT_DEBUGFUNCTION = 20094,
    CCURLOPT_OPENSOCKETFUNCTION = 20163,
    CCURLOPT_SEEKFUNCTION = 20167,
    CCURLOPT_CLOSESOCKETFUNCTION = 20208,
    CCURLOPT_RESOLVER_START_FUNCTION = 20272,
    CCURLOPT_XFERINFOFUNCTION = 20219,
    CCURLOPT_PREREQFUNCTION = 20312,

    CCURLOPT_INFILESIZE_LARGE = 30115,
    CCURLOPT_POSTFIELDSIZE_LARGE = 30120,
    CCURLOPT_SSLCERT_BLOB = 40291,
    CCURLOPT_CAINFO_BLOB = 40309,
    CCURLOPT_PROXY_CAINFO_BLOB = 40310
};

enum {
    CCURLMOPT_MAXCONNECTS = 6,
    CCURLMOPT_MAX_HOST_CONNECTIONS = 7,
    CCURLMOPT_MAX_TOTAL_CONNECTIONS = 13,
    CCURLMOPT_SOCKETDATA = 10002,
    CCURLMOPT_TIMERDATA = 10005,
    CCURLMOPT_SOCKETFUNCTION = 20001,
    CCURLMOPT_TIMERFUNCTION = 20004
};

enum { CCURLSHOPT_SHARE = 1, CCURL_LOCK_DATA_SSL_SESSION = 4 };

enum {
    CCURLINFO_LONG = 0x200000,
    CCURLINFO_TYPE = 0xF00000,
    CCURLINFO_PRIVATE = 0x100000 + 21,
    CCURLINFO_PRIMARY_IP = 0x100000 + 32,
    CCURLINFO_HEADER_SIZE = 0x200000 + 11,
    CCURLINFO_REQUEST_SIZE = 0x200000 + 12,
    CCURLINFO_PRIMARY_PORT = 0x200000 + 40,
    CCURLINFO_ACTIVESOCKET = 0x500000 + 44,
    CCURLINFO_TLS_SSL_PTR = 0x400000 + 45,
    CCURLINFO_SIZE_DOWNLOAD_T = 0x600000 + 8,
    CCURLINFO_HTTP_CONNECTCODE = 0x200000 + 22,
    CCURLINFO_OS_ERRNO = 0x200000 + 25,
    CCURLINFO_NUM_CONNECTS = 0x200000 + 26,
    CCURLINFO_PROXY_ERROR = 0x200000 + 59,
    CCURLINFO_SIZE_UPLOAD_T = 0x600000 + 7,
    CCURLINFO_TOTAL_TIME_T = 0x600000 + 50,
    CCURLINFO_NAMELOOKUP_TIME_T = 0x600000 + 51,
    CCURLINFO_CONNECT_TIME_T = 0x600000 + 52,
    CCURLINFO_STARTTRANSFER_TIME_T = 0x600000 + 54,
    CCURLINFO_APPCONNECT_TIME_T = 0x600000 + 56
};

// MARK: Values

enum {
    CCURL_HTTP_VERSION_1_1 = 2,
    CCURL_HTTP_VERSION_2TLS = 4,
    CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE = 5,
    CCURL_RTSPREQ_RECEIVE = 11,
    CCURL_SSLVERSION_TLSv1_2 = 6,
    CCURL_SSLVERSION_TLSv1_3 = 7,
    CCURLPROTO_HTTP = 1,
    CCURLPROTO_HTTPS = 2,

    CCURLPAUSE_RECV = 1,
    CCURLPAUSE_SEND = 4,
    CCURL_WRITEFUNC_PAUSE = 0x10000001,
    CCURL_READFUNC_PAUSE = 0x10000001,
    CCURL_READFUNC_ABORT = 0x10000000,
    CCURL_SEEKFUNC_OK = 0,
    CCURL_SEEKFUNC_FAIL = 1,
    CCURL_PREREQFUNC_OK = 0,
    CCURL_PREREQFUNC_ABORT = 1,

    CCURL_POLL_IN = 1,
    CCURL_POLL_OUT = 2,
    CCURL_POLL_INOUT = 3,
    CCURL_POLL_REMOVE = 4,
    CCURL_CSELECT_IN = 1,
    CCURL_CSELECT_OUT = 2,
    CCURL_CSELECT_ERR = 4,
    CCURL_SOCKET_TIMEOUT = -1
};

enum {
    CCURLE_OK = 0,
    CCURLE_UNSUPPORTED_PROTOCOL = 1,
    CCURLE_URL_MALFORMAT = 3,
    CCURLE_COULDNT_RESOLVE_PROXY = 5,
    CCURLE_COULDNT_RESOLVE_HOST = 6,
    CCURLE_COULDNT_CONNECT = 7,
    CCURLE_WEIRD_SERVER_REPLY = 8,
    CCURLE_HTTP2 = 16,
    CCURLE_PARTIAL_FILE = 18,
    CCURLE_WRITE_ERROR = 23,
    CCURLE_OUT_OF_MEMORY = 27,
    CCURLE_OPERATION_TIMEDOUT = 28,
    CCURLE_SSL_CONNECT_ERROR = 35,
    CCURLE_BAD_FUNCTION_ARGUMENT = 43,
    CCURLE_GOT_NOTHING = 52,
    CCURLE_SSL_ENGINE_NOTFOUND = 53,
    CCURLE_SSL_ENGINE_SETFAILED = 54,
    CCURLE_SEND_ERROR = 55,
    CCURLE_RECV_ERROR = 56,
    CCURLE_SSL_CERTPROBLEM = 58,
    CCURLE_SSL_CIPHER = 59,
    CCURLE_PEER_FAILED_VERIFICATION = 60,
    CCURLE_BAD_CONTENT_ENCODING = 61,
    CCURLE_FILESIZE_EXCEEDED = 63,
    CCURLE_USE_SSL_FAILED = 64,
    CCURLE_AGAIN = 81,
    CCURLE_SEND_FAIL_REWIND = 65,
    CCURLE_SSL_CACERT_BADFILE = 77,
    CCURLE_SSL_CRL_BADFILE = 82,
    CCURLE_SSL_ISSUER_ERROR = 83,
    CCURLE_SSL_PINNEDPUBKEYNOTMATCH = 90,
    CCURLE_SSL_INVALIDCERTSTATUS = 91,
    CCURLE_HTTP2_STREAM = 92,
    CCURLE_PROXY = 97,
    CCURLE_SSL_CLIENTCERT = 98,
    CCURLE_TOO_LARGE = 100
};

enum {
    CCURLPX_NO_AUTH = 12,
    CCURLPX_USER_REJECTED = 33
};

#endif
#endif
