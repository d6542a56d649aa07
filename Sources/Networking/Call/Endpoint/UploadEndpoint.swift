public import Foundation

/// An image of an ``UploadEndpoint``: the short form of a ``BodyPart``.
public struct ImageBodyPart: Sendable {
    /// The image's bytes.
    public let imageData: Data
    /// The name of the form's field.
    public let name: String
    /// The name of the file.
    public let fileName: String
    /// The media type.
    public let mediaType: MediaType

    /// Makes an image.
    public init(
        imageData: Data, name: String = "photo", fileName: String = "photo.jpg",
        mediaType: MediaType = MediaType("image", "jpeg")
    ) {
        self.imageData = imageData
        self.name = name
        self.fileName = fileName
        self.mediaType = mediaType
    }

    var part: BodyPart { .data(name, imageData, fileName: fileName, contentType: mediaType) }
}

/// A call that uploads images with some fields as `multipart/form-data`: the short form for what `body:
/// .multipart(…)` does in full.
///
/// ```swift
/// struct ChangeAvatar: UploadEndpoint {
///     let image: Data
///
///     var path: EndpointPath { "avatar" }
///     var imageBodyParts: [ImageBodyPart] { [ImageBodyPart(imageData: image)] }
///     var fields: URLQuery { ["crop": "square"] }
/// }
/// ```
///
/// The images come first, then the fields, then the ``Endpoint/parameters``, if they are a form. Default of the
/// method: POST. A case without images and fields is a call like any other, so that one enumeration can have both:
///
/// ```swift
/// enum AvatarEndpoint: UploadEndpoint {
///     case fetch
///     case change(Data)
///
///     var path: EndpointPath { "avatar" }
///     var method: HTTPMethod { if case .fetch = self { .get } else { .post } }
///     var imageBodyParts: [ImageBodyPart] { if case .change(let data) = self { [ImageBodyPart(imageData: data)] } else { [] } }
/// }
/// ```
public protocol UploadEndpoint: Endpoint {
    /// The images.
    var imageBodyParts: [ImageBodyPart] { get }
    /// The fields that follow. Default: none. `.encoded(value)` makes them of a struct.
    var fields: URLQuery { get }
}

extension UploadEndpoint {
    /// POST.
    public var method: HTTPMethod { .post }
    /// None.
    public var fields: URLQuery { [:] }
    /// The images, then the fields; empty if there are neither.
    public var body: HTTPBody {
        imageBodyParts.isEmpty && fields.isEmpty ? .empty : .multipart(imageBodyParts.map(\.part), fields: fields)
    }
}
