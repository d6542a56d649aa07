#define _GNU_SOURCE  // dup3
#include "CLibcurl.h"

#ifdef __linux__

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

// `CURLMsg`, the message of `curl_multi_info_read`.
struct message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};

enum { MESSAGE_DONE = 1, OLDEST_VERSION = 0x074400 };

// The first members of `curl_version_info_data`. The other members are not read.
struct version_info {
    int age;
    const char *version;
    unsigned int version_number;
    const char *host;
    int features;
};

struct blob {
    void *data;
    size_t count;
    unsigned int flags;
};

static struct {
    int (*global_init)(long);
    char *(*version)(void);
    struct version_info *(*version_info)(int);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_getinfo)(void *, int, ...);
    int (*easy_pause)(void *, int);
    int (*easy_send)(void *, const void *, size_t, size_t *);
    int (*easy_recv)(void *, void *, size_t, size_t *);
    const char *(*easy_strerror)(int);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *);
    int (*multi_add_handle)(void *, void *);
    int (*multi_remove_handle)(void *, void *);
    int (*multi_socket_action)(void *, int, int, int *);
    int (*multi_socket_all)(void *, int *);
    struct message *(*multi_info_read)(void *, int *);
    int (*multi_setopt)(void *, int, ...);
    int (*multi_perform)(void *, int *);
    int (*multi_poll)(void *, void *, unsigned int, int, int *);
    void *(*share_init)(void);
    int (*share_cleanup)(void *);
    int (*share_setopt)(void *, int, ...);
} curl;

// Functions of the OpenSSL that libcurl uses; NULL if it uses another library.
static struct {
    uint64_t (*set_options)(void *, uint64_t);
    long (*control)(void *, int, long, void *);
    const char *(*get_version)(void *);
    int (*get_shutdown)(void *);
    void (*set_info_callback)(void *, void (*)(void *, int, int));
    int (*get_ex_new_index)(int, long, void *, void *, void *, void *);
    int (*set_ex_data)(void *, int, void *);
    void *(*get_ex_data)(void *, int);
} openssl;

// The index of the extra data of `clibcurl_easy_watch_closure`; negative if there is none.
static int closure_index = -1;

// `curl_tlssessioninfo`, and `CURLSSLBACKEND_OPENSSL`.
struct tls_info {
    int backend;
    void *session;
};
enum { BACKEND_OPENSSL = 1 };

// `SSL_OP_NO_RENEGOTIATION`, `SSL_CTRL_CLEAR_MODE` and `SSL_MODE_AUTO_RETRY`.
enum { NO_RENEGOTIATION = 1 << 30, CLEAR_MODE = 78, AUTO_RETRY = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded = false;

static bool find(void *library) {
    const struct {
        void *function;
        const char *name;
    } symbols[] = {
        {&curl.global_init, "curl_global_init"},
        {&curl.version, "curl_version"},
        {&curl.version_info, "curl_version_info"},
        {&curl.easy_init, "curl_easy_init"},
        {&curl.easy_cleanup, "curl_easy_cleanup"},
        {&curl.easy_setopt, "curl_easy_setopt"},
        {&curl.easy_getinfo, "curl_easy_getinfo"},
        {&curl.easy_pause, "curl_easy_pause"},
        {&curl.easy_send, "curl_easy_send"},
        {&curl.easy_recv, "curl_easy_recv"},
        {&curl.easy_strerror, "curl_easy_strerror"},
        {&curl.multi_init, "curl_multi_init"},
        {&curl.multi_cleanup, "curl_multi_cleanup"},
        {&curl.multi_add_handle, "curl_multi_add_handle"},
        {&curl.multi_remove_handle, "curl_multi_remove_handle"},
        {&curl.multi_socket_action, "curl_multi_socket_action"},
        {&curl.multi_socket_all, "curl_multi_socket_all"},
        {&curl.multi_info_read, "curl_multi_info_read"},
        {&curl.multi_setopt, "curl_multi_setopt"},
        {&curl.multi_perform, "curl_multi_perform"},
        {&curl.multi_poll, "curl_multi_poll"},
        {&curl.share_init, "curl_share_init"},
        {&curl.share_cleanup, "curl_share_cleanup"},
        {&curl.share_setopt, "curl_share_setopt"},
    };
    for (size_t index = 0; index < sizeof(symbols) / sizeof(symbols[0]); index++) {
        void *address = dlsym(library, symbols[index].name);
        if (!address) return false;
        *(void **)symbols[index].function = address;
    }
    return true;
}

static enum CLibcurlLoadResult load(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return CLIBCURL_NOT_FOUND;
    const int first_age = 0, everything = 3;
    if (find(library) && curl.version_info(first_age)->version_number >= OLDEST_VERSION
        && curl.global_init(everything) == CCURLE_OK) {
        // The search includes the libraries that libcurl depends on.
        *(void **)&openssl.set_options = dlsym(library, "SSL_CTX_set_options");
        *(void **)&openssl.control = dlsym(library, "SSL_CTX_ctrl");
        *(void **)&openssl.get_version = dlsym(library, "SSL_get_version");
        *(void **)&openssl.get_shutdown = dlsym(library, "SSL_get_shutdown");
        *(void **)&openssl.set_info_callback = dlsym(library, "SSL_set_info_callback");
        *(void **)&openssl.get_ex_new_index = dlsym(library, "CRYPTO_get_ex_new_index");
        *(void **)&openssl.set_ex_data = dlsym(library, "SSL_set_ex_data");
        *(void **)&openssl.get_ex_data = dlsym(library, "SSL_get_ex_data");
        const int connections = 0;  // CRYPTO_EX_INDEX_SSL
        if (openssl.get_shutdown && openssl.set_info_callback && openssl.get_ex_new_index && openssl.set_ex_data
            && openssl.get_ex_data)
            closure_index = openssl.get_ex_new_index(connections, 0, NULL, NULL, NULL, NULL);
        return CLIBCURL_LOADED;
    }
    dlclose(library);
    return CLIBCURL_TOO_OLD;
}

enum CLibcurlLoadResult clibcurl_load(const char *name) {
    pthread_mutex_lock(&lock);
    enum CLibcurlLoadResult result = is_loaded ? CLIBCURL_LOADED : load(name);
    is_loaded = result == CLIBCURL_LOADED;
    pthread_mutex_unlock(&lock);
    return result;
}

int clibcurl_features(void) {
    const int first_age = 0;
    return is_loaded ? curl.version_info(first_age)->features : 0;
}

unsigned int clibcurl_version_number(void) {
    const int first_age = 0;
    return is_loaded ? curl.version_info(first_age)->version_number : 0;
}

const char *clibcurl_version(void) { return is_loaded ? curl.version() : NULL; }

void *clibcurl_easy_init(void) { return curl.easy_init(); }
void clibcurl_easy_cleanup(void *easy) { curl.easy_cleanup(easy); }
int clibcurl_easy_pause(void *easy, int directions) { return curl.easy_pause(easy, directions); }
int clibcurl_easy_send(void *easy, const void *bytes, size_t count, size_t *sent) {
    return curl.easy_send(easy, bytes, count, sent);
}
int clibcurl_easy_recv(void *easy, void *bytes, size_t count, size_t *received) {
    return curl.easy_recv(easy, bytes, count, received);
}
int clibcurl_easy_get_socket(void *easy) {
    int socket = -1;
    return curl.easy_getinfo(easy, CCURLINFO_ACTIVESOCKET, &socket) == CCURLE_OK ? socket : -1;
}
const char *clibcurl_easy_strerror(int code) { return curl.easy_strerror(code); }

int clibcurl_easy_set_long(void *easy, int option, long value) { return curl.easy_setopt(easy, option, value); }
int clibcurl_easy_set_offset(void *easy, int option, int64_t value) { return curl.easy_setopt(easy, option, value); }
int clibcurl_easy_set_pointer(void *easy, int option, const void *value) {
    return curl.easy_setopt(easy, option, value);
}
int clibcurl_easy_set_text(void *easy, int option, const char *value) { return curl.easy_setopt(easy, option, value); }
int clibcurl_easy_set_blob(void *easy, int option, const void *bytes, size_t count) {
    struct blob blob = {(void *)bytes, count, 1 /* copied */};
    return curl.easy_setopt(easy, option, &blob);
}
int clibcurl_easy_set_transfer(void *easy, int option, size_t (*function)(char *, size_t, size_t, void *)) {
    return curl.easy_setopt(easy, option, function);
}
int clibcurl_easy_set_seek(void *easy, int option, int (*function)(void *, int64_t, int)) {
    return curl.easy_setopt(easy, option, function);
}
int clibcurl_easy_set_open_socket(void *easy, int option, int (*function)(void *, int, void *)) {
    return curl.easy_setopt(easy, option, function);
}
int clibcurl_easy_set_close_socket(void *easy, int option, int (*function)(void *, int)) {
    return curl.easy_setopt(easy, option, function);
}
int clibcurl_easy_set_debug(void *easy, int option, int (*function)(void *, int, char *, size_t, void *)) {
    return curl.easy_setopt(easy, option, function);
}
int clibcurl_easy_set_progress(
    void *easy, int option, int (*function)(void *, int64_t, int64_t, int64_t, int64_t)) {
    return curl.easy_setopt(easy, option, function);
}
int clibcurl_easy_set_prereq(void *easy, int option, int (*function)(void *, char *, char *, int, int)) {
    return curl.easy_setopt(easy, option, function);
}
int clibcurl_easy_set_resolver_start(void *easy, int option, int (*function)(void *, void *, void *)) {
    return curl.easy_setopt(easy, option, function);
}

// The function of `CURLOPT_SSL_CTX_FUNCTION`.
static int limit_handshakes(void *easy, void *context, void *renegotiates) {
    (void)easy;
    if (!renegotiates) openssl.set_options(context, NO_RENEGOTIATION);
    openssl.control(context, CLEAR_MODE, AUTO_RETRY, NULL);
    return CCURLE_OK;
}

void clibcurl_easy_limit_handshakes(void *easy, bool renegotiates) {
    if (!openssl.set_options || !openssl.control) return;
    const int data = 10109, function = 20108;
    curl.easy_setopt(easy, data, renegotiates ? easy : NULL);
    curl.easy_setopt(easy, function, limit_handshakes);
}

long clibcurl_easy_get_long(void *easy, int info) {
    long value = 0;
    return curl.easy_getinfo(easy, info, &value) == CCURLE_OK ? value : 0;
}
int64_t clibcurl_easy_get_offset(void *easy, int info) {
    int64_t value = 0;
    return curl.easy_getinfo(easy, info, &value) == CCURLE_OK ? value : 0;
}
void *clibcurl_easy_get_pointer(void *easy, int info) {
    void *value = NULL;
    return curl.easy_getinfo(easy, info, &value) == CCURLE_OK ? value : NULL;
}
const char *clibcurl_easy_get_text(void *easy, int info) { return clibcurl_easy_get_pointer(easy, info); }

// Returns OpenSSL's `SSL` of the connection in use; NULL if there is none.
static void *openssl_connection(void *easy) {
    struct tls_info *info = clibcurl_easy_get_pointer(easy, CCURLINFO_TLS_SSL_PTR);
    return info && info->backend == BACKEND_OPENSSL ? info->session : NULL;
}

const char *clibcurl_easy_tls_version(void *easy) {
    void *connection = openssl_connection(easy);
    return connection && openssl.get_version ? openssl.get_version(connection) : NULL;
}

// Called by OpenSSL on the events of a watched connection.
static void note_closure(void *connection, int event, int value) {
    const int received_alert = 0x4004, close_notify = 0x100;
    bool *is_closed = openssl.get_ex_data(connection, closure_index);
    if (is_closed && event == received_alert && value == close_notify) *is_closed = true;
}

bool clibcurl_easy_watch_closure(void *easy, bool *is_closed) {
    void *connection = openssl_connection(easy);
    const int received = 2;  // SSL_RECEIVED_SHUTDOWN
    if (!connection || closure_index < 0 || !openssl.set_ex_data(connection, closure_index, is_closed)) return false;
    *is_closed = openssl.get_shutdown(connection) & received;
    openssl.set_info_callback(connection, note_closure);
    return true;
}

void *clibcurl_multi_init(void) { return curl.multi_init(); }
int clibcurl_multi_cleanup(void *multi) { return curl.multi_cleanup(multi); }
int clibcurl_multi_add(void *multi, void *easy) { return curl.multi_add_handle(multi, easy); }
int clibcurl_multi_remove(void *multi, void *easy) { return curl.multi_remove_handle(multi, easy); }
int clibcurl_multi_socket_action(void *multi, int socket, int events) {
    int running = 0;
    return curl.multi_socket_action(multi, socket, events, &running);
}
int clibcurl_multi_socket_all(void *multi) {
    int running = 0;
    return curl.multi_socket_all(multi, &running);
}
void *clibcurl_multi_next_ended(void *multi, int *result) {
    int rest = 0;
    struct message *message;
    while ((message = curl.multi_info_read(multi, &rest))) {
        if (message->kind != MESSAGE_DONE) continue;
        *result = message->data.result;
        return message->easy;
    }
    return NULL;
}
int clibcurl_multi_set_long(void *multi, int option, long value) { return curl.multi_setopt(multi, option, value); }
int clibcurl_multi_set_pointer(void *multi, int option, void *value) { return curl.multi_setopt(multi, option, value); }
int clibcurl_multi_set_socket(void *multi, int option, int (*function)(void *, int, int, void *, void *)) {
    return curl.multi_setopt(multi, option, function);
}
int clibcurl_multi_set_timer(void *multi, int option, int (*function)(void *, long, void *)) {
    return curl.multi_setopt(multi, option, function);
}
int clibcurl_multi_perform(void *multi, int *running) { return curl.multi_perform(multi, running); }
int clibcurl_multi_poll(void *multi, int timeout_ms) {
    int ready = 0;
    return curl.multi_poll(multi, NULL, 0, timeout_ms, &ready);
}

void *clibcurl_share_init(void) { return curl.share_init(); }
int clibcurl_share_cleanup(void *share) { return curl.share_cleanup(share); }
int clibcurl_share_set_long(void *share, int option, long value) {
    return curl.share_setopt(share, option, (int)value);
}

int clibcurl_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int clibcurl_epoll_set(int epoll, int socket, int wanted) {
    struct epoll_event event = {0};
    event.data.fd = socket;
    if (!wanted) return epoll_ctl(epoll, EPOLL_CTL_DEL, socket, &event);
    if (wanted & CCURL_POLL_IN) event.events |= EPOLLIN;
    if (wanted & CCURL_POLL_OUT) event.events |= EPOLLOUT;
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) == 0) return 0;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
}

int clibcurl_epoll_wait(int epoll, struct clibcurl_event *events, int count, int timeout_ms) {
    struct epoll_event ready[256];
    int found = epoll_wait(epoll, ready, count < 256 ? count : 256, timeout_ms);
    for (int index = 0; index < found; index++) {
        unsigned int happened = ready[index].events;
        events[index].socket = ready[index].data.fd;
        events[index].events = (happened & (EPOLLIN | EPOLLHUP) ? CCURL_CSELECT_IN : 0)
            | (happened & EPOLLOUT ? CCURL_CSELECT_OUT : 0) | (happened & EPOLLERR ? CCURL_CSELECT_ERR : 0);
    }
    return found < 0 ? 0 : found;
}

int clibcurl_alarm_create(int epoll) {
    int alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // Edge-triggered: the kernel reports each ring once, so nothing has to read the alarm to reset it.
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = alarm};
    if (alarm >= 0) epoll_ctl(epoll, EPOLL_CTL_ADD, alarm, &event);
    return alarm;
}

void clibcurl_alarm_ring(int alarm) {
    uint64_t one = 1;
    ssize_t written = write(alarm, &one, sizeof(one));
    (void)written;
}

void clibcurl_socket_shutdown(int socket) { shutdown(socket, SHUT_RDWR); }

int clibcurl_socket_end(int socket) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) return -1;
    int result = dup3(pair[0], socket, O_CLOEXEC);
    close(pair[0]);
    close(pair[1]);
    return result < 0 ? -1 : 0;
}

static _Thread_local void *thread_owner = NULL;

void clibcurl_thread_set_owner(void *owner) { thread_owner = owner; }
void *clibcurl_thread_owner(void) { return thread_owner; }

#else

// The target is empty on other platforms.
typedef int clibcurl_is_for_linux;

#endif
