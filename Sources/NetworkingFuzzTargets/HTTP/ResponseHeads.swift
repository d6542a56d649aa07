import Networking

extension FuzzTarget {
    /// The lines of a response head. An accepted head has valid fields, and does not change if it is written and read
    /// again.
    static let responseHeads = FuzzTarget("response-heads") { input in
        guard let head = try read(input.bytes, limit: 2_048) else { return }
        try require((200...999).contains(head.status.code), "the status is \(head.status.code)")
        for field in head.headers {
            try require(
                Bytes.isToken(field.name.rawValue), "\(field.name.rawValue.debugDescription) is not a field name")
            let isOneLine = field.value.utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
            try require(isOneLine, "\(field.name): \(field.value.debugDescription) is not one line")
            let isTrimmed = !Bytes.isBlank(field.value.utf8.first) && !Bytes.isBlank(field.value.utf8.last)
            try require(isTrimmed, "\(field.name): \(field.value.debugDescription) begins or ends with a blank")
        }
        do {
            let length = try head.bodyLength(for: .get) ?? 0
            try require(length >= 0, "the length of the body is \(length)")
        } catch let error as NetworkError {
            try requireReason(error, .malformedResponse)
        }
        try requireSame(head)
    }

    private static func requireSame(_ head: ResponseHead) throws {
        var text = "HTTP/\(head.version ?? "") \(head.status.code)\r\n"
        for field in head.headers { text += "\(field.name): \(field.value)\r\n" }
        guard let again = try read(Array((text + "\r\n").utf8), limit: .max) else {
            throw FuzzViolation(rule: "a complete head was written and read again, and the result is incomplete")
        }
        try require(again.status.code, equals: head.status.code, "the status changes")
        try require(again.version, equals: head.version, "the version changes")
        try require(again.headers.count, equals: head.headers.count, "the number of fields changes")
        for (new, old) in zip(again.headers, head.headers) {
            try require(new.name.rawValue, equals: old.name.rawValue, "a name changes")
            try require(new.value, equals: old.value, "the value of \(old.name) changes")
        }
    }

    /// Reads the lines as an engine delivers them. Returns nil if the head is not complete or is refused.
    private static func read(_ bytes: [UInt8], limit: Int) throws -> ResponseHead? {
        var reader = ResponseHeadReader(limit: limit)
        var head: ResponseHead?
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
            let line = rest[..<end]
            rest = rest[end...]
            switch line.withUnsafeBytes({ reader.read($0) }) {
            case .more: continue
            case .head(let found):
                try require(head == nil, "two heads")
                head = found
            case .tooLarge(let reason), .malformed(let reason):
                try require(!reason.isEmpty, "a refused head has no reason")
                return nil
            }
        }
        return head
    }
}
