import Foundation

extension HTTPBody {
    /// Returns a copy of the body for a record. The copy contains the bytes if they are in memory and not more than
    /// `limit`; otherwise, it contains only the length. A record retains no reader and reads no file.
    func kept(bytes limit: Int) -> HTTPBody {
        if let data, data.count <= limit { return self }
        let length = length
        return HTTPBody(
            .source(
                Source(
                    length: length, isReplayable: true, pieces: [.unknown],
                    open: {
                        throw NetworkError(
                            .bodyUnreadable,
                            reason: "the record of the request contains only the length of the body, not its bytes")
                    })),
            headers: headers)
    }
}

extension Data {
    /// Returns the first bytes of the data, at most `limit`. The result does not end in the middle of a UTF-8
    /// character, and does not retain the other bytes.
    func prefix(whole limit: Int) -> Data {
        guard count > limit else { return self }
        var end = limit
        while end > 0, end > limit - 3, self[startIndex + end] & 0xC0 == 0x80 { end -= 1 }
        return Data(prefix(end))
    }
}
