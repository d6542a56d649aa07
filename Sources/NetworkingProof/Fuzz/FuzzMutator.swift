import NetworkingTesting

/// Creates inputs from the inputs of a corpus. Equal seeds and numbers give equal inputs.
struct FuzzMutator: Sendable {
    private let corpus: [[UInt8]]
    private let words: [[UInt8]]
    private let seed: UInt64
    private static let largestSize = 4_096

    init(corpus: [[UInt8]], name: String, seed: UInt64) {
        self.corpus = corpus.isEmpty ? [[]] : corpus
        words = FuzzMutator.tokens + FuzzMutator.words(in: corpus)
        self.seed = name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 as UInt64 }
    }

    /// Returns an input. The first numbers give the inputs of the corpus unchanged. All other numbers give mutations of
    /// these inputs.
    func input(_ number: Int) -> [UInt8] {
        if number < corpus.count { return corpus[number] }
        var random = SeededGenerator(seed: seed &+ UInt64(number) &* 0xD134_2543_DE82_EF95 as UInt64)
        var input = entry(&random)
        for _ in 0...(random.next() % 6) { mutate(&input, &random) }
        if input.count > FuzzMutator.largestSize { input.removeSubrange(FuzzMutator.largestSize...) }
        return input
    }

    private func entry(_ random: inout SeededGenerator) -> [UInt8] {
        corpus[Int.random(in: 0..<corpus.count, using: &random)]
    }

    private func mutate(_ input: inout [UInt8], _ random: inout SeededGenerator) {
        let place = Int.random(in: 0...input.count, using: &random)
        let end = min(input.count, place + Int.random(in: 1...12, using: &random))
        switch random.next() % 9 {
        case 0 where place < input.count: input[place] ^= 1 << UInt8(random.next() % 8)
        case 1 where place < input.count: input[place] = UInt8(truncatingIfNeeded: random.next())
        case 2, 3: input.insert(contentsOf: word(&random), at: place)
        case 4: input.replaceSubrange(place..<end, with: word(&random))
        case 5: input.removeSubrange(place..<end)
        case 6: input.insert(contentsOf: input[place..<end], at: Int.random(in: 0...input.count, using: &random))
        case 7: splice(&input, at: place, &random)
        case 8 where random.next() % 4 == 0: input.removeSubrange(place...)
        default: input.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        }
    }

    private func word(_ random: inout SeededGenerator) -> [UInt8] {
        words[Int.random(in: 0..<words.count, using: &random)]
    }

    /// Replaces the rest of an input with the rest of another input, or inserts a piece of the other input.
    private func splice(_ input: inout [UInt8], at place: Int, _ random: inout SeededGenerator) {
        let other = entry(&random)
        let start = Int.random(in: 0...other.count, using: &random)
        if random.next() % 2 == 0 {
            input.replaceSubrange(place..., with: other[start...])
        } else {
            let end = min(other.count, start + Int.random(in: 1...40, using: &random))
            input.insert(contentsOf: other[start..<end], at: place)
        }
    }
}

extension FuzzMutator {
    /// Texts that parsers treat specially, in addition to the words of the corpus.
    private static let tokens: [[UInt8]] =
        [
            "\r\n", "\n", "\r", "\0", "\t", " ", "\u{1E}", "\"", "\\", "\\\"", "'", "`", ",", ";", ":", "=", "/", "//",
            "?", "#", "&", "%", "@", "[", "]", "{", "}", "<", ">", "*", "+", "-", ".", "..", "../", "%2e", "%2E%2E",
            "%2f", "%00", "%0d%0a", "%", "%zz", "0", "-0", "-1", "1e999", "0x10", "255", "65536", "2147483648",
            "9223372036854775807", "9223372036854775808", "18446744073709551615", "99999999999999999999", "NaN",
            "\u{301}", "\u{FEFF}", "\u{FFFD}", "\u{2028}", "\u{85}", "\u{A0}", "\u{200D}", "é", "e\u{301}", "ß", "İ",
            "😀", "日本", "\u{7F}", "null", "true", "\r\n\r\n", "\n\n", "http://", "a",
        ].map { Array($0.utf8) } + [
            [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0x80], [0xEF, 0xBB, 0xBF],
        ]

    /// Returns the words of a corpus: sequences of letters, digits and hyphens, shorter than 40 bytes.
    private static func words(in corpus: [[UInt8]]) -> [[UInt8]] {
        let words = corpus.flatMap { input in
            input.split { byte in
                !(0x30...0x39).contains(byte) && !(0x41...0x5A).contains(byte) && !(0x61...0x7A).contains(byte)
                    && byte != UInt8(ascii: "-")
            }
        }
        return Set(words.map(Array.init).filter { $0.count < 40 }).sorted { $0.lexicographicallyPrecedes($1) }
    }
}
