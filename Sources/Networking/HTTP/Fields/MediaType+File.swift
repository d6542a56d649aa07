extension MediaType {
    /// The media type that a file name's extension usually stands for; nil where that is not known here.
    public init?(fileExtension: String) {
        guard let type = MediaType.byExtension[fileExtension.lowercased()].flatMap({ MediaType($0) }) else {
            return nil
        }
        self = type
    }

    private static let byExtension = [
        "aac": "audio/aac", "avif": "image/avif", "bin": "application/octet-stream", "bmp": "image/bmp",
        "css": "text/css", "csv": "text/csv", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic",
        "heif": "image/heif", "htm": "text/html", "html": "text/html", "ics": "text/calendar", "jpeg": "image/jpeg",
        "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json", "m4a": "audio/mp4",
        "md": "text/markdown", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "oga": "audio/ogg",
        "ogg": "audio/ogg", "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml",
        "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff", "txt": "text/plain",
        "wasm": "application/wasm", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
        "xml": "application/xml", "zip": "application/zip",
    ]
}
