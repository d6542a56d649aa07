import Foundation

extension HTTPBody {
    /// Returns the body as a record keeps it: the bytes of a body in memory that has at most `limit` bytes, and only the
    /// length of another body. A record retains no reader and reads no file.
    func kept(bytes limit: Int) -> HTTPBody {
        if let data, data.count <= limit { return self }
        let length = length
        return HTTPBody(
            .source(
                Source(
                    length: length, isReplayable: true, pieces: [.unknown],
                    open: { throw NetworkError(.bodyUnreadable, reason: "the body was not kept") })),
            headers: headers)
    }
}

extension Data {
    /// Returns at most `limit` bytes, without a part of a UTF-8 character at their end. The rest is not retained.
    func prefix(whole limit: Int) -> Data {
        guard count > limit else { return self }
        var end = limit
        while end > 0, end > limit - 3, self[startIndex + end] & 0xC0 == 0x80 { end -= 1 }
        return Data(prefix(end))
    }
}
