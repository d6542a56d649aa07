import Foundation

extension HTTPRequest {
    /// The request as a command line for the `curl` program, on one line or more, which a POSIX shell runs as it stands.
    ///
    /// Method, URL, fields and body are those of the request; the user's `.curlrc` is ignored. Files are named, not
    /// copied: run the command where they are. A body from a ``HTTPBody/Reader`` of yours is read from the standard input.
    /// The body of a request that adapters, transports and observers get is encoded.
    ///
    /// ```swift
    /// print(request.curlCommand())                            // credentials, query values and body hidden
    /// print(request.curlCommand(redaction: .revealed))        // can be run
    /// ```
    ///
    /// - Parameter redaction: Decides which values the command shows. Default: ``Redaction/standard``.
    public func curlCommand(redaction: Redaction = .standard) -> String {
        let body = BodyArguments(self, redaction)
        var arguments = ["curl --disable --globoff --path-as-is"]
        arguments.append(method == .head ? "--head" : "--request \(ShellText.quoted(method.rawValue))")
        arguments += curlFields(redaction).map { "--header \(ShellText.quoted($0))" }
        if let argument = body.argument { arguments.append(argument) }
        arguments.append("--url \(ShellText.quoted(redaction.text(of: url)))")
        let command = arguments.joined(separator: " \\\n    ")
        return body.source.map { "\($0) | \(command)" } ?? command
    }

    /// The request's fields, and those that curl would add by itself, taken away.
    private func curlFields(_ redaction: Redaction) -> [String] {
        let headers = allHeaders
        var lines = headers.map { field in
            let value = redaction.value(of: field)
            return value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
        }
        for name in ["User-Agent", "Accept"] + (body.isEmpty ? [] : ["Content-Type", "Expect"])
        where !headers.contains(HTTPHeader.Name(name)) {
            lines.append("\(name):")
        }
        if body.length == nil, !headers.contains(.transferEncoding) {
            lines.append("Transfer-Encoding: chunked")
        }
        return lines
    }
}

/// How curl gets a body: as an argument, from a file, or from what a command before writes.
private struct BodyArguments {
    var argument: String?
    /// The command that writes the body.
    var source: String?

    /// What the system takes as one argument, less a margin.
    private static let argumentLimit = 100_000

    init(_ request: HTTPRequest, _ redaction: Redaction) {
        let body = request.body
        guard !body.isEmpty else {
            // So that curl, as the library does, says that the body has no bytes.
            if [.post, .put, .patch].contains(request.method) {
                argument = "--data-raw ''"
                if !request.allHeaders.contains(.contentType) { argument = "--header 'Content-Type:' --data-raw ''" }
            }
            return
        }
        guard redaction.showsBodies else {
            let shown = redaction.text(of: body.data ?? Data(), type: request.allHeaders.contentType)
            let length = body.length.map { "\($0) bytes" } ?? "a body"
            argument = "--data-raw \(ShellText.quoted(shown.isEmpty ? "<\(length)>" : shown))"
            return
        }
        let pieces = body.pieces
        argument = "--data-binary @-"
        switch pieces.first {
        case .data(let data) where pieces.count == 1:
            guard let text = ShellText.text(data), data.count < Self.argumentLimit else { break }
            argument = "--data-raw \(ShellText.quoted(text))"
            return
        case .file(let url) where pieces.count == 1 && !url.path.contains(";"):
            argument = "--data-binary \(ShellText.quoted("@" + url.path))"
            return
        default: break
        }
        source = ShellText.writing(pieces)
    }
}

/// Words of a POSIX shell.
enum ShellText {
    /// A text as one word.
    static func quoted(_ text: String) -> String {
        "'\(text.replacingOccurrences(of: "'", with: "'\\''"))'"
    }

    /// Bytes as text, where a shell's word can hold them.
    static func text(_ data: Data) -> String? {
        guard !data.contains(0) else { return nil }
        return data.asText
    }

    /// A command that writes pieces, one after another; nil if only the standard input has them.
    static func writing(_ pieces: [HTTPBody.Piece]) -> String? {
        let commands = pieces.compactMap { piece in
            switch piece {
            case .data(let data): "printf '\(escaped(data))'"
            case .file(let url): "cat \(quoted(url.path))"
            case .unknown: "cat"
            }
        }
        return commands == ["cat"] ? nil : "{ \(commands.joined(separator: "; ")); }"
    }

    /// Bytes as a format of `printf`: what is not a plain character is written as its octal number.
    private static func escaped(_ data: Data) -> String {
        var text: [UInt8] = []
        for byte in data {
            switch byte {
            // A dash at the beginning would be an option.
            case 0x20...0x7E where !#"'\%"#.utf8.contains(byte) && (byte != UInt8(ascii: "-") || !text.isEmpty):
                text.append(byte)
            default: text += "\\\(String(UInt32(byte) + 0o1000, radix: 8).dropFirst())".utf8
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
