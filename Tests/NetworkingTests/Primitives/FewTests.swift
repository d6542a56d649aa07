import Testing

@testable import Networking

@Suite("Few", .endsInTime)
struct FewTests {
    private func elements(_ few: Few<Int>) -> [Int] {
        var elements: [Int] = []
        few.forEach { elements.append($0) }
        return elements
    }

    @Test("Elements keep the order in which they were added, even if one of them is removed")
    func order() {
        for leaving in 1...4 {
            var few = Few<Int>()
            for element in 1...4 { few.append(element) }
            few.remove { $0 == leaving }
            few.append(5)
            #expect(elements(few) == (1...5).filter { $0 != leaving })
        }
    }

    @Test("Removing a missing element changes nothing; removing the only element leaves an empty list")
    func emptying() {
        var few = Few(1)
        #expect(few.remove { $0 == 2 } == nil)
        #expect(elements(few) == [1])
        #expect(few.remove { $0 == 1 } == 1)
        #expect(few.isEmpty)
        #expect(few.remove { _ in true } == nil)
        few.append(3)
        #expect(elements(few) == [3])
    }

    @Test("The first of several matches is found and removed")
    func first() {
        var few = Few<Int>()
        for element in 1...4 {
            #expect(few.first { $0 > 1 } == (element > 2 ? 2 : nil))
            few.append(element)
        }
        #expect(few.remove { $0 > 1 } == 2)
        #expect(few.first { $0 > 1 } == 3)
        #expect(few.first { $0 > 4 } == nil)
        for _ in 0..<3 { few.remove { _ in true } }
        #expect(few.isEmpty)
    }
}
