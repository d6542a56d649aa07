import Foundation
import NetworkingOutbox

extension FuzzTarget {
    /// The file of an outbox's entry, which a damaged disk or another version has written. It is read as an entry, or
    /// reported with one line that says what was found; an entry that is read is written back as the same entry.
    static let outboxEntries = FuzzTarget("outbox-entries", count: 200_000) { input in
        let bytes = Data(input.bytes)
        // A correct checksum, so that the members are reached.
        let end = bytes.firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.startIndex
        for text in [bytes, OutboxRecord.sealed(bytes[end...])] {
            let record: OutboxRecord
            do { record = try OutboxRecord(decoding: text) } catch {
                try require(
                    !"\(error)".utf8.contains(0x0A) && "\(error)".count < 400, "the error is not one line")
                continue
            }
            try require(try OutboxRecord(decoding: record.encoded()) == record, "the entry changes when it is written")
            _ = record.lane
        }
        if let name = OutboxName(String(decoding: bytes, as: UTF8.self)) {
            try require(OutboxName(name.file) == name, "the name changes when it is written")
        }
    }
}
