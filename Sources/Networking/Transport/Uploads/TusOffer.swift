import Foundation

/// What a server offers in addition to the core of tus 1.0.
struct TusOffer: Sendable {
    static let version = "1.0.0"

    /// Whether the request that creates an upload may contain its first bytes.
    var takesFirstPart = false
    /// Whether the server verifies the SHA-1 checksum of each request.
    var takesChecksums = false

    init() {}

    init(_ headers: HTTPHeaders) {
        let extensions = headers[.tusExtension]?.members ?? []
        takesFirstPart = extensions.contains("creation-with-upload")
        takesChecksums =
            extensions.contains("checksum") && headers[.tusChecksumAlgorithm]?.members.contains("sha1") == true
    }
}

enum TusStatus {
    /// The statuses that mean that the server does not know the upload.
    static let gone: Set<HTTPStatus> = [.notFound, .gone]
    /// The statuses of a response to OPTIONS that do not show whether the server supports tus.
    static let unknown: Set<HTTPStatus> = [
        .badRequest, .forbidden, .notFound, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .notImplemented,
    ]
    /// The statuses that mean that the server does not end uploads.
    static let cannotDelete: Set<HTTPStatus> = [.forbidden, .methodNotAllowed, .notImplemented]
    /// The status that means that the bytes do not match their checksum.
    static let checksumMismatch = HTTPStatus(460)
}

extension HTTPHeader.Name {
    /// Whether the field belongs to tus.
    var isOfUpload: Bool {
        let name = rawValue.lowercased()
        return name.hasPrefix("tus-") || name.hasPrefix("upload-")
    }

    static let tusResumable = HTTPHeader.Name("Tus-Resumable")
    static let tusVersion = HTTPHeader.Name("Tus-Version")
    static let tusExtension = HTTPHeader.Name("Tus-Extension")
    static let tusMaximumSize = HTTPHeader.Name("Tus-Max-Size")
    static let tusChecksumAlgorithm = HTTPHeader.Name("Tus-Checksum-Algorithm")
    static let uploadOffset = HTTPHeader.Name("Upload-Offset")
    static let uploadLength = HTTPHeader.Name("Upload-Length")
    static let uploadMetadata = HTTPHeader.Name("Upload-Metadata")
    static let uploadChecksum = HTTPHeader.Name("Upload-Checksum")
    static let uploadExpires = HTTPHeader.Name("Upload-Expires")
}

extension HTTPHeaders {
    /// Returns the number of bytes that a field states; nil if there is no such field, or if its value is not a number
    /// of bytes.
    func bytes(_ name: HTTPHeader.Name) -> Int? {
        guard let text = self[name], !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// The time at which the server forgets the upload.
    var uploadExpiry: Date? { self[.uploadExpires].flatMap { HTTPDate($0)?.date } }
}

extension String {
    /// The members of a list without parameters.
    var members: [String] { split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } }
}
