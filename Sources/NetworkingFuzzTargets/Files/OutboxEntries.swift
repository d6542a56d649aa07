import Foundation
import NetworkingOutbox

extension FuzzTarget {
    /// The file of an outbox entry that is damaged, or that another version has written. The file is either read as an
    /// entry, or refused with an error of one line. An entry does not change if it is written and read again.
    static let outboxEntries = FuzzTarget("outbox-entries", count: 200_000) { input in
        let bytes = Data(input.bytes)
        // The second text has a correct checksum, so that its members are decoded.
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
