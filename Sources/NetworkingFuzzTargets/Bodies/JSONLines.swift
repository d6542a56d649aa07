import Foundation
import Networking

extension FuzzTarget {
    /// A body of JSON lines, in chunks of any size. Each line has the same value as if it were decoded alone. The
    /// stream of values ends at the first line that is refused. The error names the number of this line.
    static let jsonLines = FuzzTarget("json-lines", count: 200_000) { input in
        let lines = input.bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        var expected: [JSONValue] = []
        var wrongLine: Int?
        for (index, line) in lines.enumerated() where wrongLine == nil {
            let line = line.last == 0x0D ? line.dropLast() : line
            let text = String(decoding: line, as: UTF8.self)
            guard !text.utf8.allSatisfy({ Bytes.isBlank($0) }) else { continue }
            if let value = try? JSONValue(json: Data(text.utf8)) {
                expected.append(value)
            } else {
                wrongLine = index + 1
            }
        }
        let (found, error) = try waiting { [bytes = input.bytes] in await read(bytes, Int(bytes.first ?? 0) % 9 + 1) }
        try require(found == expected, "expected the values \(expected), found \(found)")
        guard let error else { return try require(wrongLine == nil, "line \(wrongLine ?? 0) is not refused") }
        try requireReason(error, .undecodableBody)
        let names = "\(error)".contains("line \(wrongLine ?? 0): ")
        try require(names, "the error does not name line \(wrongLine ?? 0): \(error)")
    }

    private static func read(_ body: [UInt8], _ chunkSize: Int) async -> ([JSONValue], (any Error)?) {
        var values: [JSONValue] = []
        do {
            let transport = ChunkTransport(headers: [:], body: body, chunkSize: chunkSize)
            let service = FuzzService { $0.transport = transport }
            let lines = try await service.request(.get("lines"), as: .jsonLines(JSONValue.self))
            for try await value in lines { values.append(value) }
            return (values, nil)
        } catch {
            return (values, error)
        }
    }
}
