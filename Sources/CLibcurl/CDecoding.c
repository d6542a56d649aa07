#include "CDecoding.h"

#ifdef __linux__

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// `z_stream` of zlib.h.
struct z_stream {
    const uint8_t *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *, unsigned int, unsigned int);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};

enum { Z_OK = 0, Z_STREAM_END = 1, Z_BUF_ERROR = -5 };
enum { BROTLI_ERROR = 0, BROTLI_SUCCESS = 1 };
// `ZSTD_d_windowLogMax` and its value: the binary logarithm of 8 MiB, the window size that a decoder must support
// (RFC 9659).
enum { ZSTD_WINDOW_LOG_MAX = 100, ZSTD_WINDOW_LOG = 23 };

// `ZSTD_inBuffer` and `ZSTD_outBuffer` of zstd.h.
struct zstd_in { const void *bytes; size_t count; size_t position; };
struct zstd_out { void *bytes; size_t count; size_t position; };

static struct {
    int (*inflate_init)(struct z_stream *, int, const char *, int);
    int (*inflate)(struct z_stream *, int);
    int (*inflate_end)(struct z_stream *);
    int (*inflate_reset)(struct z_stream *);
    int (*inflate_get_window)(struct z_stream *, uint8_t *, unsigned int *);
    int (*inflate_set_window)(struct z_stream *, const uint8_t *, unsigned int);
    int (*deflate_init)(struct z_stream *, int, int, int, int, int, const char *, int);
    int (*deflate)(struct z_stream *, int);
    int (*deflate_end)(struct z_stream *);
    const char *(*zlib_version)(void);
    void *(*brotli_create)(void *, void *, void *);
    int (*brotli_decompress)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    void (*brotli_destroy)(void *);
    void *(*zstd_create)(void);
    size_t (*zstd_set)(void *, int, int);
    size_t (*zstd_decompress)(void *, struct zstd_out *, struct zstd_in *);
    unsigned int (*zstd_is_error)(size_t);
    size_t (*zstd_free)(void *);
} library;

static bool has_zlib, has_deflate, has_brotli, has_zstd;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find(void *handle, void *function, const char *name) {
    void *address = handle ? dlsym(handle, name) : NULL;
    *(void **)function = address;
    return address != NULL;
}

static void load(void) {
    void *zlib = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    has_zlib = find(zlib, &library.inflate_init, "inflateInit2_") && find(zlib, &library.inflate, "inflate")
        && find(zlib, &library.inflate_end, "inflateEnd") && find(zlib, &library.zlib_version, "zlibVersion");
    has_deflate = has_zlib && find(zlib, &library.inflate_reset, "inflateReset")
        && find(zlib, &library.inflate_get_window, "inflateGetDictionary")
        && find(zlib, &library.inflate_set_window, "inflateSetDictionary")
        && find(zlib, &library.deflate_init, "deflateInit2_") && find(zlib, &library.deflate, "deflate")
        && find(zlib, &library.deflate_end, "deflateEnd");
    void *brotli = dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_LOCAL);
    has_brotli = find(brotli, &library.brotli_create, "BrotliDecoderCreateInstance")
        && find(brotli, &library.brotli_decompress, "BrotliDecoderDecompressStream")
        && find(brotli, &library.brotli_destroy, "BrotliDecoderDestroyInstance");
    void *zstd = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    has_zstd = find(zstd, &library.zstd_create, "ZSTD_createDCtx")
        && find(zstd, &library.zstd_set, "ZSTD_DCtx_setParameter")
        && find(zstd, &library.zstd_decompress, "ZSTD_decompressStream")
        && find(zstd, &library.zstd_is_error, "ZSTD_isError") && find(zstd, &library.zstd_free, "ZSTD_freeDCtx");
}

struct cdecoding {
    enum cdecoding_coding coding;
    struct z_stream zlib;
    void *state;
};

bool cdecoding_is_available(enum cdecoding_coding coding) {
    pthread_once(&once, load);
    switch (coding) {
    case CDECODING_BROTLI: return has_brotli;
    case CDECODING_ZSTD: return has_zstd;
    default: return has_zlib;
    }
}

static bool start(struct cdecoding *decoding) {
    // zlib's window bits: 15 for the zlib format, negative for raw deflate, and 16 more for gzip.
    int bits = decoding->coding == CDECODING_GZIP ? 31 : decoding->coding == CDECODING_ZLIB ? 15 : -15;
    switch (decoding->coding) {
    case CDECODING_BROTLI: return (decoding->state = library.brotli_create(NULL, NULL, NULL)) != NULL;
    case CDECODING_ZSTD:
        decoding->state = library.zstd_create();
        return decoding->state
            && !library.zstd_is_error(library.zstd_set(decoding->state, ZSTD_WINDOW_LOG_MAX, ZSTD_WINDOW_LOG));
    default:
        return library.inflate_init(&decoding->zlib, bits, library.zlib_version(), sizeof(decoding->zlib)) == Z_OK;
    }
}

struct cdecoding *cdecoding_create(enum cdecoding_coding coding) {
    if (!cdecoding_is_available(coding)) return NULL;
    struct cdecoding *decoding = calloc(1, sizeof(*decoding));
    if (!decoding) return NULL;
    decoding->coding = coding;
    if (start(decoding)) return decoding;
    if (decoding->state && coding == CDECODING_ZSTD) library.zstd_free(decoding->state);
    free(decoding);
    return NULL;
}

static enum cdecoding_result run_zlib(
    struct z_stream *stream, const void *input, size_t *input_count, void *output, size_t *output_count) {
    stream->next_in = input;
    stream->avail_in = (unsigned int)*input_count;
    stream->next_out = output;
    stream->avail_out = (unsigned int)*output_count;
    int result = library.inflate(stream, 0);
    *input_count -= stream->avail_in;
    *output_count -= stream->avail_out;
    if (result == Z_STREAM_END) return CDECODING_END;
    return result == Z_OK || result == Z_BUF_ERROR ? CDECODING_MORE : CDECODING_BROKEN;
}

static enum cdecoding_result run_brotli(
    void *state, const void *input, size_t *input_count, void *output, size_t *output_count) {
    const uint8_t *next_in = input;
    uint8_t *next_out = output;
    size_t input_left = *input_count, output_left = *output_count;
    int result = library.brotli_decompress(state, &input_left, &next_in, &output_left, &next_out, NULL);
    *input_count -= input_left;
    *output_count -= output_left;
    return result == BROTLI_ERROR ? CDECODING_BROKEN : result == BROTLI_SUCCESS ? CDECODING_END : CDECODING_MORE;
}

static enum cdecoding_result run_zstd(
    void *state, const void *input, size_t *input_count, void *output, size_t *output_count) {
    struct zstd_in in = {input, *input_count, 0};
    struct zstd_out out = {output, *output_count, 0};
    size_t result = library.zstd_decompress(state, &out, &in);
    *input_count = in.position;
    *output_count = out.position;
    return library.zstd_is_error(result) ? CDECODING_BROKEN : result == 0 ? CDECODING_END : CDECODING_MORE;
}

enum cdecoding_result cdecoding_run(
    struct cdecoding *decoding, const void *input, size_t *input_count, void *output, size_t *output_count) {
    switch (decoding->coding) {
    case CDECODING_BROTLI: return run_brotli(decoding->state, input, input_count, output, output_count);
    case CDECODING_ZSTD: return run_zstd(decoding->state, input, input_count, output, output_count);
    default: return run_zlib(&decoding->zlib, input, input_count, output, output_count);
    }
}

bool cdecoding_continue(struct cdecoding *decoding) {
    uint8_t window[1 << 15];
    unsigned int count = sizeof(window);
    return library.inflate_get_window(&decoding->zlib, window, &count) == Z_OK
        && library.inflate_reset(&decoding->zlib) == Z_OK
        && (count == 0 || library.inflate_set_window(&decoding->zlib, window, count) == Z_OK);
}

bool cdecoding_restart(struct cdecoding *decoding) { return library.inflate_reset(&decoding->zlib) == Z_OK; }

bool cdeflating_is_available(void) {
    pthread_once(&once, load);
    return has_deflate;
}

struct z_stream *cdeflating_create(int window_bits) {
    if (!cdeflating_is_available()) return NULL;
    const int level = 6, deflated = 8, memory_level = 8, default_strategy = 0;
    struct z_stream *stream = calloc(1, sizeof(*stream));
    if (stream && library.deflate_init(stream, level, deflated, -window_bits, memory_level, default_strategy,
            library.zlib_version(), sizeof(*stream)) == Z_OK)
        return stream;
    free(stream);
    return NULL;
}

bool cdeflating_run(
    struct z_stream *stream, const void *input, size_t *input_count, void *output, size_t *output_count, bool flushes) {
    const int no_flush = 0, sync_flush = 2;
    stream->next_in = input;
    stream->avail_in = (unsigned int)*input_count;
    stream->next_out = output;
    stream->avail_out = (unsigned int)*output_count;
    int result = library.deflate(stream, flushes ? sync_flush : no_flush);
    *input_count -= stream->avail_in;
    *output_count -= stream->avail_out;
    return result == Z_OK || result == Z_BUF_ERROR;
}

void cdeflating_free(struct z_stream *stream) {
    library.deflate_end(stream);
    free(stream);
}

void cdecoding_free(struct cdecoding *decoding) {
    switch (decoding->coding) {
    case CDECODING_BROTLI: library.brotli_destroy(decoding->state); break;
    case CDECODING_ZSTD: library.zstd_free(decoding->state); break;
    default: library.inflate_end(&decoding->zlib); break;
    }
    free(decoding);
}

#else

// The target is empty on other platforms.
typedef int cdecoding_is_for_linux;

#endif
