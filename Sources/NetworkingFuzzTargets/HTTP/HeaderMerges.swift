import Foundation
import Networking

extension FuzzTarget {
    /// Two lists of header fields, in whose names and values `#` stands for the number of the line. After the second
    /// list has been merged into the first, each name in the second list has only the values of that list, and every
    /// other name has its old values. The order of the values is kept.
    static let headerMerges = FuzzTarget("header-merges") { input in
        let (old, new) = (fields(input[0]), fields(input[1]))
        var merged = old
        merged.merge(new)
        let (was, comes, found) = (values(old), values(new), values(merged))
        try require(Set(found.keys) == Set(was.keys).union(comes.keys), "a name is missing or was invented")
        for (name, values) in found {
            try require(values == comes[name] ?? was[name], "the values of \(name) are \(values)")
        }
    }

    private static func fields(_ bytes: [UInt8]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            let text = String(decoding: line, as: UTF8.self).replacingOccurrences(of: "#", with: "\(number)")
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            headers.append(HTTPHeader(HTTPHeader.Name(String(parts[0])), String(parts[1])))
        }
        return headers
    }

    private static func values(_ headers: HTTPHeaders) -> [HTTPHeader.Name: [String]] {
        headers.reduce(into: [:]) { $0[$1.name, default: []].append($1.value) }
    }
}
