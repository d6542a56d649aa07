import Foundation

extension HTTPRequest {
    /// Returns the request as a command for the `curl` program, on one or more lines. With ``Redaction/revealed``, a
    /// POSIX shell can run the command unchanged.
    ///
    /// The command has the method, URL, header fields and body of the request, and ignores the user's `.curlrc`. It
    /// refers to files by their paths and does not contain their bytes. A body is read from standard input if it has a
    /// custom ``HTTPBody/Reader``, or values that are not encoded yet. In the requests that adapters, transports and
    /// observers receive, the values are already encoded.
    ///
    /// ```swift
    /// print(request.curlCommand())                            // credentials, query values and body hidden
    /// print(request.curlCommand(redaction: .revealed))        // can be run
    /// ```
    ///
    /// - Parameter redaction: Determines which values the command shows. Default: ``Redaction/standard``.
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

    /// Returns the header fields for the command. If a line contains only a name and a colon, curl does not add a
    /// default field of this name.
    private func curlFields(_ redaction: Redaction) -> [String] {
        let headers = allHeaders
        var lines = headers.map { field in
            let value = redaction.value(of: field)
            return value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
        }
        for name in ["User-Agent"] + (body.isEmpty ? [] : ["Content-Type", "Expect"])
        where !headers.contains(HTTPHeader.Name(name)) {
            lines.append("\(name):")
        }
        if body.length == nil, !headers.contains(.transferEncoding) {
            lines.append("Transfer-Encoding: chunked")
        }
        return lines
    }
}

/// The source of a body for curl: an argument, a file, or the output of a preceding command.
private struct BodyArguments {
    var argument: String?
    /// The command that writes the body.
    var source: String?

    /// The maximum length of one argument in bytes: the limit of the system minus a margin.
    private static let argumentLimit = 100_000

    init(_ request: HTTPRequest, _ redaction: Redaction) {
        let body = request.body
        guard !body.isEmpty else {
            // With this argument, curl sends `Content-Length: 0`, as the library does.
            guard [.post, .put, .patch].contains(request.method) else { return }
            let noType = request.allHeaders.contains(.contentType) ? "" : "--header 'Content-Type:' "
            argument = noType + "--data-raw ''"
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
            // A word of a shell cannot contain NUL.
            guard let text = data.asText, !data.contains(0), data.count < Self.argumentLimit else { break }
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

/// Functions for words of a POSIX shell.
enum ShellText {
    /// Returns a text as one quoted word. The text is split as bytes, because a shell reads bytes. Foundation treats a
    /// quote with a combining mark as a different character than a quote.
    static func quoted(_ text: String) -> String {
        let pieces = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + pieces.map { String(Substring($0)) }.joined(separator: "'\\''") + "'"
    }

    /// Returns a command that writes pieces one after another. Returns nil if all bytes come from standard input.
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

    /// Returns bytes as a format of `printf`. A byte that is not a plain character is written as its octal number.
    private static func escaped(_ data: Data) -> String {
        var text: [UInt8] = []
        for byte in data {
            switch byte {
            // A dash at the beginning would start an option.
            case 0x20...0x7E where !#"'\%"#.utf8.contains(byte) && (byte != UInt8(ascii: "-") || !text.isEmpty):
                text.append(byte)
            default: text += "\\\(String(UInt32(byte) + 0o1000, radix: 8).dropFirst())".utf8
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
