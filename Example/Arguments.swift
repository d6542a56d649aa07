import Foundation

/// What the command line asks for.
enum Arguments {
    case tour
    case fetch(URL, bearer: String?)
    case help

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    static let usage = """
        swift run Example                                plays a tour against a server in this process
        swift run Example --url URL [--bearer TOKEN]     fetches a URL and prints its cURL line, status, headers and timing
        """

    init(_ words: [String]) throws {
        var values: [String: String] = [:]
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--help" || word == "-h" {
                self = .help
                return
            }
            guard ["--url", "--bearer"].contains(word) else {
                throw Fault(description: "unknown argument \(word)\n\(Self.usage)")
            }
            guard let value = rest.popFirst() else { throw Fault(description: "\(word) needs a value") }
            values[word] = value
        }
        guard let text = values["--url"] else {
            guard values.isEmpty else { throw Fault(description: "--bearer goes with --url") }
            self = .tour
            return
        }
        guard let url = URL(string: text) else { throw Fault(description: "\(text) is no URL") }
        self = .fetch(url, bearer: values["--bearer"])
    }
}
