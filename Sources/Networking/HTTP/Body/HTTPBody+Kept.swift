import Foundation

extension HTTPBody {
    /// Returns the body as a record keeps it: with its bytes if they are in memory and not more than `limit`, otherwise
    /// with its length only. A record retains no reader and reads no file.
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
    /// Returns at most `limit` bytes, which do not end in the middle of a UTF-8 character. The rest is not retained.
    func prefix(whole limit: Int) -> Data {
        guard count > limit else { return self }
        var end = limit
        while end > 0, end > limit - 3, self[startIndex + end] & 0xC0 == 0x80 { end -= 1 }
        return Data(prefix(end))
    }
}
