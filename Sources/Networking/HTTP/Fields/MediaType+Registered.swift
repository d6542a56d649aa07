/// The media types that apps use most often. Write any other type as `MediaType("application", "wasm")`.
extension MediaType {
    /// Any type: `*/*`.
    public static let any = MediaType("*", "*")
    /// `application/json`.
    public static let json = MediaType("application", "json")
    /// `application/xml`.
    public static let xml = MediaType("application", "xml")
    /// `application/octet-stream`.
    public static let octetStream = MediaType("application", "octet-stream")
    /// `application/x-www-form-urlencoded`.
    public static let formURLEncoded = MediaType("application", "x-www-form-urlencoded")
    /// `application/problem+json`.
    public static let problemJSON = MediaType("application", "problem+json")
    /// `application/x-ndjson`.
    public static let ndjson = MediaType("application", "x-ndjson")
    /// `application/pdf`.
    public static let pdf = MediaType("application", "pdf")
    /// `application/zip`.
    public static let zip = MediaType("application", "zip")
    /// `text/plain`.
    public static let plainText = MediaType("text", "plain")
    /// `text/html`.
    public static let html = MediaType("text", "html")
    /// `text/csv`.
    public static let csv = MediaType("text", "csv")
    /// `text/event-stream`.
    public static let eventStream = MediaType("text", "event-stream")
    /// `image/png`.
    public static let png = MediaType("image", "png")
    /// `image/jpeg`.
    public static let jpeg = MediaType("image", "jpeg")
    /// `image/gif`.
    static let gif = MediaType("image", "gif")
    /// `image/webp`.
    public static let webp = MediaType("image", "webp")
    /// `image/heic`.
    static let heic = MediaType("image", "heic")
    /// `image/svg+xml`.
    public static let svg = MediaType("image", "svg+xml")
    /// `video/mp4`.
    public static let mp4 = MediaType("video", "mp4")
    /// `multipart/form-data`.
    public static let formData = MediaType("multipart", "form-data")
}

extension MediaType {
    /// Returns the usual media type of a file name extension, or nil if the extension is not in the table.
    init?(fileExtension: String) {
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
