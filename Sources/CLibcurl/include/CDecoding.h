// Decoders for the content codings of HTTP (RFC 9110 section 8.4.1). They use the system's zlib, brotli and zstd, which
// are loaded at run time. libcurl uses the same libraries.
#ifndef CDECODING_H
#define CDECODING_H

#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cdecoding_coding { CDECODING_GZIP, CDECODING_ZLIB, CDECODING_DEFLATE, CDECODING_BROTLI, CDECODING_ZSTD };

enum cdecoding_result {
    /// The decoder needs more input, or more room for output.
    CDECODING_MORE,
    /// The stream has ended. Some input may not have been used.
    CDECODING_END,
    /// The input is not valid in this coding.
    CDECODING_BROKEN
};

struct cdecoding;

/// Returns whether the library for a coding can be loaded. Safe to call from every thread.
bool cdecoding_is_available(enum cdecoding_coding coding);
/// Creates a decoder. Returns NULL if the library is missing or there is no memory.
struct cdecoding *cdecoding_create(enum cdecoding_coding coding);
/// Decodes from `input` to `output`. Before the call, the counts are the sizes of the buffers. After the call, they are
/// the numbers of bytes that were read and written.
enum cdecoding_result cdecoding_run(
    struct cdecoding *decoding, const void *input, size_t *input_count, void *output, size_t *output_count);
void cdecoding_free(struct cdecoding *decoding);
/// Goes on after the end of a deflate stream: the next stream may refer to the last 32 KiB. Returns false if there is
/// no memory.
bool cdecoding_continue(struct cdecoding *decoding);
/// Begins a deflate stream that refers to nothing before it.
bool cdecoding_restart(struct cdecoding *decoding);

// A compressor for deflate (RFC 1951), and what a decompressor needs beside it.

struct z_stream;

/// Returns whether the system's zlib can compress, and go on after the end of a stream.
bool cdeflating_is_available(void);
/// Creates a compressor whose window has 2^9 to 2^15 bytes. Returns NULL if there is no memory.
struct z_stream *cdeflating_create(int window_bits);
/// Compresses from `input` to `output`. The counts are those of `cdecoding_run`. If `flushes` is true, all input so far
/// is written, up to a byte boundary; it is written once there is room left in `output`.
bool cdeflating_run(
    struct z_stream *stream, const void *input, size_t *input_count, void *output, size_t *output_count, bool flushes);
void cdeflating_free(struct z_stream *stream);

#endif
#endif
