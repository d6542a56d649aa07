// Decoders for the content codings of HTTP (RFC 9110 section 8.4.1), by the system's zlib, brotli and zstd, which are loaded at run time.
// They are the libraries that libcurl itself uses.
#ifndef CDECODING_H
#define CDECODING_H

#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cdecoding_coding { CDECODING_GZIP, CDECODING_ZLIB, CDECODING_DEFLATE, CDECODING_BROTLI, CDECODING_ZSTD };

enum cdecoding_result {
    /// More input or more room for output is needed.
    CDECODING_MORE,
    /// The stream has ended; input may be left.
    CDECODING_END,
    /// The input is not of this coding.
    CDECODING_BROKEN
};

struct cdecoding;

/// Whether the library for a coding can be loaded. Safe from every thread.
bool cdecoding_is_available(enum cdecoding_coding coding);
/// A new decoder; NULL if the library is missing or there is no memory.
struct cdecoding *cdecoding_create(enum cdecoding_coding coding);
/// Decodes from `input` to `output`. The counts say how many bytes there are, and afterwards how many were used.
enum cdecoding_result cdecoding_run(
    struct cdecoding *decoding, const void *input, size_t *input_count, void *output, size_t *output_count);
void cdecoding_free(struct cdecoding *decoding);

#endif
#endif
