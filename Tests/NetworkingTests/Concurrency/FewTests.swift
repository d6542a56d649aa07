import Testing

@testable import Networking

@Suite("A few elements")
struct FewTests {
    private func elements(_ few: Few<Int>) -> [Int] {
        var elements: [Int] = []
        few.forEach { elements.append($0) }
        return elements
    }

    @Test("Elements keep the order of their coming, whichever of them leaves")
    func order() {
        for leaving in 1...4 {
            var few = Few<Int>()
            for element in 1...4 { few.append(element) }
            few.remove { $0 == leaving }
            few.append(5)
            #expect(elements(few) == (1...5).filter { $0 != leaving })
        }
    }

    @Test("One that is not there is not removed, and the last one leaves nothing behind")
    func emptying() {
        var few = Few(1)
        few.remove { $0 == 2 }
        #expect(elements(few) == [1])
        few.remove { $0 == 1 }
        #expect(few.isEmpty)
        few.remove { _ in true }
        few.append(3)
        #expect(elements(few) == [3])
    }

    @Test("Of equal elements the first one leaves")
    func equal() {
        var few = Few("a")
        for element in ["b", "a"] { few.append(element) }
        few.remove { $0 == "a" }
        var left: [String] = []
        few.forEach { left.append($0) }
        #expect(left == ["b", "a"])
    }
}
