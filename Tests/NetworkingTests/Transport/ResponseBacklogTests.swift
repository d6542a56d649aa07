import Foundation
@testable import Networking
import Testing

@Suite("Response backlog", .endsInTime)
struct ResponseBacklogTests {
    @Test("While the reader has room, the backlog delivers its chunks in order, and then the end of the response")
    func order() {
        let ended = Locked(false)
        var backlog = ResponseBacklog(capacity: 10)
        let first = backlog.keep(Data("one".utf8))
        #expect(first == .kept(isFirst: true))
        let second = backlog.keep(Data("two".utf8))
        #expect(second == .kept(isFirst: false))
        backlog.finish { ended.withLock { $0 = true } }
        #expect(backlog.isHeldBack && !ended.withLock { $0 })
        var read: [String] = []
        var room = 1
        func offer(_ chunk: Data) -> Bool {
            guard room > 0 else { return false }
            room -= 1
            read.append(String(decoding: chunk, as: UTF8.self))
            return true
        }
        let wasDrained = backlog.drain(offer)
        #expect(!wasDrained)
        #expect(read == ["one"] && !ended.withLock { $0 })
        room = 5
        let isDrained = backlog.drain(offer)
        #expect(isDrained)
        #expect(read == ["one", "two"] && ended.withLock { $0 })
        #expect(!backlog.isHeldBack)
    }

    @Test("Data beyond the capacity is refused, and drained data makes room")
    func capacity() {
        var backlog = ResponseBacklog(capacity: 4)
        let kept = backlog.keep(Data(count: 3))
        #expect(kept == .kept(isFirst: true))
        let refused = backlog.keep(Data(count: 2))
        #expect(refused == .tooMany)
        let isDrained = backlog.drain { _ in true }
        #expect(isDrained)
        let keptLater = backlog.keep(Data(count: 4))
        #expect(keptLater == .kept(isFirst: true))
    }

    @Test("Without chunks, the end of the response is delivered at once; after `removeAll`, the end is never delivered")
    func end() {
        let ends = Locked(0)
        var backlog = ResponseBacklog(capacity: 4)
        backlog.finish { ends.withLock { $0 += 1 } }
        #expect(ends.withLock { $0 } == 1)
        _ = backlog.keep(Data(count: 1))
        backlog.finish { ends.withLock { $0 += 1 } }
        backlog.removeAll()
        let isDrained = backlog.drain { _ in true }
        #expect(isDrained)
        #expect(ends.withLock { $0 } == 1)
    }
}
