/// The media types that clients meet, from the [IANA registry](https://www.iana.org/assignments/media-types).
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
    /// `text/plain`.
    public static let plainText = MediaType("text", "plain")
    /// `text/html`.
    public static let html = MediaType("text", "html")
    /// `text/event-stream`.
    public static let eventStream = MediaType("text", "event-stream")
    /// `image/png`.
    public static let png = MediaType("image", "png")
    /// `image/jpeg`.
    public static let jpeg = MediaType("image", "jpeg")
    /// `image/gif`.
    public static let gif = MediaType("image", "gif")
    /// `image/webp`.
    public static let webp = MediaType("image", "webp")
    /// `multipart/form-data`.
    public static let formData = MediaType("multipart", "form-data")

    /// `application/…`, such as `.application(.json)`.
    public static func application(_ subtype: Subtype, _ parameters: [Parameter] = []) -> MediaType {
        MediaType("application", subtype, parameters)
    }

    /// `audio/…`, such as `.audio(.mpeg)`.
    public static func audio(_ subtype: Subtype, _ parameters: [Parameter] = []) -> MediaType {
        MediaType("audio", subtype, parameters)
    }

    /// `image/…`, such as `.image(.png)`.
    public static func image(_ subtype: Subtype, _ parameters: [Parameter] = []) -> MediaType {
        MediaType("image", subtype, parameters)
    }

    /// `message/…`, such as `.message(.http)`.
    public static func message(_ subtype: Subtype, _ parameters: [Parameter] = []) -> MediaType {
        MediaType("message", subtype, parameters)
    }

    /// `model/…`, such as `.model(.gltf)`.
    public static func model(_ subtype: Subtype, _ parameters: [Parameter] = []) -> MediaType {
        MediaType("model", subtype, parameters)
    }

    /// `multipart/…`, such as `.multipart(.formData)`.
    public static func multipart(_ subtype: Subtype, _ parameters: [Parameter] = []) -> MediaType {
        MediaType("multipart", subtype, parameters)
    }

    /// `text/…`, such as `.text(.plain)`.
    public static func text(_ subtype: Subtype, _ parameters: [Parameter] = []) -> MediaType {
        MediaType("text", subtype, parameters)
    }

    /// `video/…`, such as `.video(.quicktime)`.
    public static func video(_ subtype: Subtype, _ parameters: [Parameter] = []) -> MediaType {
        MediaType("video", subtype, parameters)
    }
}

/// The subtypes by name; those of one type are listed together.
extension MediaType.Subtype {
    /// Any subtype: `*`.
    public static let any: Self = "*"
    /// `application/json`.
    public static let json: Self = "json"
    /// `application/xml`.
    public static let xml: Self = "xml"
    /// `application/pdf`.
    public static let pdf: Self = "pdf"
    /// `application/zip`.
    public static let zip: Self = "zip"
    /// `application/gzip`.
    public static let gzip: Self = "gzip"
    /// `application/octet-stream`.
    public static let octetStream: Self = "octet-stream"
    /// `application/x-www-form-urlencoded`.
    public static let formURLEncoded: Self = "x-www-form-urlencoded"
    /// `application/problem+json`.
    public static let problemJSON: Self = "problem+json"
    /// `application/json-patch+json`.
    public static let jsonPatch: Self = "json-patch+json"
    /// `application/merge-patch+json`.
    public static let mergePatch: Self = "merge-patch+json"
    /// `application/x-ndjson`.
    public static let ndjson: Self = "x-ndjson"
    /// `application/javascript`.
    public static let javascript: Self = "javascript"
    /// `application/graphql`.
    public static let graphQL: Self = "graphql"
    /// `application/msgpack`.
    public static let msgpack: Self = "msgpack"
    /// `application/x-protobuf`.
    public static let protobuf: Self = "x-protobuf"
    /// `application/wasm`.
    public static let wasm: Self = "wasm"
    /// `application/sql`.
    public static let sql: Self = "sql"
    /// `application/x-tar`.
    public static let tar: Self = "x-tar"
    /// `audio/mpeg`.
    public static let mpeg: Self = "mpeg"
    /// `audio/mp4`.
    public static let mp4: Self = "mp4"
    /// `audio/aac`.
    public static let aac: Self = "aac"
    /// `audio/ogg`.
    public static let ogg: Self = "ogg"
    /// `audio/wav`.
    public static let wav: Self = "wav"
    /// `audio/flac`.
    public static let flac: Self = "flac"
    /// `audio/opus`.
    public static let opus: Self = "opus"
    /// `audio/midi`.
    public static let midi: Self = "midi"
    /// `image/png`.
    public static let png: Self = "png"
    /// `image/jpeg`.
    public static let jpeg: Self = "jpeg"
    /// `image/gif`.
    public static let gif: Self = "gif"
    /// `image/webp`.
    public static let webp: Self = "webp"
    /// `image/heic`.
    public static let heic: Self = "heic"
    /// `image/avif`.
    public static let avif: Self = "avif"
    /// `image/svg+xml`.
    public static let svg: Self = "svg+xml"
    /// `image/tiff`.
    public static let tiff: Self = "tiff"
    /// `image/bmp`.
    public static let bmp: Self = "bmp"
    /// `message/http`.
    public static let http: Self = "http"
    /// `message/rfc822`.
    public static let rfc822: Self = "rfc822"
    /// `message/partial`.
    public static let partial: Self = "partial"
    /// `model/gltf+json`.
    public static let gltf: Self = "gltf+json"
    /// `model/obj`.
    public static let obj: Self = "obj"
    /// `model/stl`.
    public static let stl: Self = "stl"
    /// `model/vnd.usdz+zip`.
    public static let usdz: Self = "vnd.usdz+zip"
    /// `multipart/form-data`.
    public static let formData: Self = "form-data"
    /// `multipart/mixed`.
    public static let mixed: Self = "mixed"
    /// `multipart/alternative`.
    public static let alternative: Self = "alternative"
    /// `multipart/related`.
    public static let related: Self = "related"
    /// `multipart/byteranges`.
    public static let byteRanges: Self = "byteranges"
    /// `text/plain`.
    public static let plain: Self = "plain"
    /// `text/html`.
    public static let html: Self = "html"
    /// `text/css`.
    public static let css: Self = "css"
    /// `text/csv`.
    public static let csv: Self = "csv"
    /// `text/markdown`.
    public static let markdown: Self = "markdown"
    /// `text/calendar`.
    public static let calendar: Self = "calendar"
    /// `text/event-stream`.
    public static let eventStream: Self = "event-stream"
    /// `text/rtf`.
    public static let rtf: Self = "rtf"
    /// `video/quicktime`.
    public static let quicktime: Self = "quicktime"
    /// `video/H264`.
    public static let h264: Self = "H264"
    /// `video/webm`.
    public static let webm: Self = "webm"
    /// `video/mp4`.
    public static let mpeg4: Self = "mp4"
}

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
