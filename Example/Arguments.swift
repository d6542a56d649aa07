import Foundation

/// The command that the arguments of the program select.
enum Arguments {
    case tour(Output)
    case fetch(URL, bearer: String?)
    /// A process that the tour starts: it writes a comment through an outbox.
    case write(in: URL, to: URL)
    /// A process that the tour starts: it uploads a file.
    case upload(URL, to: URL)
    case help

    /// What the tour shows in addition to its steps.
    struct Output {
        /// The file to which the traffic is written.
        var har: URL?
        /// The file to which the page of the inspector is written.
        var html: URL?
        /// Whether the page of the inspector is served until the program is ended.
        var page = false
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    static let usage = """
        swift run Example [--har FILE] [--html FILE]     runs a tour against a server in this process; writes a HAR file
                                                         and a page with its calls
        swift run Example --page                         runs the tour, and serves the page until the program is ended
        swift run Example --url URL [--bearer TOKEN]     fetches a URL; prints its curl command, status, headers, timing
        """

    init(_ words: [String]) throws {
        var values: [String: String] = [:]
        var rest = words[...]
        var output = Output()
        while let word = rest.popFirst() {
            if word == "--help" || word == "-h" {
                self = .help
                return
            }
            if word == "--page" {
                output.page = true
                continue
            }
            guard ["--url", "--bearer", "--har", "--html", "--write", "--upload"].contains(word) else {
                throw Fault(description: "unknown argument \(word)\n\(Self.usage)")
            }
            guard let value = rest.popFirst() else { throw Fault(description: "expected a value after \(word)") }
            values[word] = value
        }
        guard let text = values["--url"] else {
            guard values["--bearer"] == nil else { throw Fault(description: "--bearer can only be used with --url") }
            output.har = values["--har"].map { URL(fileURLWithPath: $0) }
            output.html = values["--html"].map { URL(fileURLWithPath: $0) }
            self = .tour(output)
            return
        }
        guard values["--har"] == nil, values["--html"] == nil, !output.page else {
            throw Fault(description: "--har, --html and --page cannot be used with --url")
        }
        guard let url = URL(string: text) else { throw Fault(description: "\(text) is not a URL") }
        self =
            values["--write"].map { .write(in: URL(fileURLWithPath: $0), to: url) }
            ?? values["--upload"].map { .upload(URL(fileURLWithPath: $0), to: url) }
            ?? .fetch(url, bearer: values["--bearer"])
    }
}
