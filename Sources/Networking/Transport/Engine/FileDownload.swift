/// Whether the response of a request is written into a file.
enum FileDownload: RequestOption {
    static let defaultOption = false
}
