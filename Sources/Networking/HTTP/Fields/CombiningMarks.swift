import Foundation

/// A limit on combining marks in a row, which keeps the time for comparing two texts linear.
///
/// Two strings are equal if their canonical forms are equal. To compute this form, Swift sorts each sequence of
/// combining marks by insertion. A sequence of n marks therefore takes up to n² steps each time a string is compared or
/// hashed. The Stream-Safe Text Format of Unicode ([UAX #15](https://www.unicode.org/reports/tr15/), section 13) has at
/// most 30 marks in a row, and texts that people write have hardly more than that.
enum CombiningMarks {
    /// The largest number of marks in a row.
    static let largestCount = 256

    /// The meaning of a backslash.
    enum Form {
        /// In a quoted-string of a field, a backslash before any character is removed ([RFC 9110 section
        /// 5.6.4](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.4)). Marks that are separated by backslashes
        /// therefore count as marks in a row.
        case field
        /// In JSON, a backslash begins an escape, such as `\u0301` or `\n`. Before any other character, a backslash is
        /// an error.
        case json
    }

    /// Returns whether a UTF-8 text has no more marks in a row than the limit. Bytes that are not UTF-8 do not count as
    /// marks.
    static func areFew(in text: UnsafeRawBufferPointer, of form: Form) -> Bool {
        var (position, count, high) = (0, 0, UInt32(0))
        while position < text.count {
            // Most texts are ASCII.
            if count == 0, let plain = plainCount(text, from: position), plain > 0 {
                position += plain
                continue
            }
            if text[position] == UInt8(ascii: "\\"),
                form == .field || position + 1 < text.count && text[position + 1] >= 0x80
            {
                position += 1
                continue
            }
            var (scalar, length) = scalar(text, at: position)
            position += length
            if (0xD800..<0xDC00).contains(scalar) {
                high = scalar  // the first half of an escaped scalar
                continue
            }
            if (0xDC00..<0xE000).contains(scalar), high != 0 {
                scalar = 0x10000 + (high - 0xD800) << 10 + (scalar - 0xDC00)
            }
            high = 0
            count = isMark(scalar) ? count + 1 : 0
            guard count <= largestCount else { return false }
        }
        return true
    }

    /// Returns whether a string has no more marks in a row than the limit. Default: a backslash has the meaning that it
    /// has in a field.
    static func areFew(in text: String, of form: Form = .field) -> Bool {
        var text = text
        return text.withUTF8 { areFew(in: UnsafeRawBufferPointer($0), of: form) }
    }

    /// Returns the number of bytes from `start` on that are ASCII and not backslashes. Only whole groups of 32 or eight
    /// bytes are counted. Returns nil if the first eight bytes contain another byte, or are fewer.
    private static func plainCount(_ text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard text[start] < 0x80 else { return nil }
        let ones = SIMD4<UInt64>(repeating: 0x0101_0101_0101_0101)
        let (backslash, tops) = (ones &* 0x5C, ones &* 0x80)
        var position = start
        while text.count - position >= 32 {
            let words = text.loadUnaligned(fromByteOffset: position, as: SIMD4<UInt64>.self)
            let backslashes = words ^ backslash  // a zero byte for each backslash
            let others = (words | ((backslashes &- ones) & ~backslashes)) & tops
            guard others.x | others.y | others.z | others.w == 0 else { break }
            position &+= 32
        }
        while text.count - position >= 8 {
            let word = text.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let backslashes = word ^ backslash.x
            guard (word | ((backslashes &- ones.x) & ~backslashes)) & tops.x == 0 else { break }
            position &+= 8
        }
        return position > start ? position - start : nil
    }

    /// Returns the scalar that begins at a position, and its number of bytes. A `\u` escape can be half of a surrogate
    /// pair.
    private static func scalar(_ text: UnsafeRawBufferPointer, at start: Int) -> (UInt32, Int) {
        let first = text[start]
        func bits(_ offset: Int) -> UInt32? {
            guard start + offset < text.count, text[start + offset] & 0xC0 == 0x80 else { return nil }
            return UInt32(text[start + offset] & 0x3F)
        }
        switch first {
        case UInt8(ascii: "\\"):
            guard start + 6 <= text.count, text[start + 1] == UInt8(ascii: "u") else { return (0, 2) }
            let digits = String(decoding: text[start + 2..<start + 6], as: UTF8.self)
            return UInt32(digits, radix: 16).map { ($0, 6) } ?? (0, 2)
        case 0xC2..<0xE0: if let one = bits(1) { return (UInt32(first & 0x1F) << 6 | one, 2) }
        case 0xE0..<0xF0:
            if let one = bits(1), let two = bits(2) { return (UInt32(first & 0x0F) << 12 | one << 6 | two, 3) }
        case 0xF0..<0xF5:
            if let one = bits(1), let two = bits(2), let three = bits(3) {
                return (UInt32(first & 0x07) << 18 | one << 12 | two << 6 | three, 4)
            }
        default: break
        }
        return (0, 1)
    }

    /// Whether normalization sorts a scalar. U+0F73, U+0F75 and U+0F81 consist of two marks, although their class is 0.
    private static func isMark(_ scalar: UInt32) -> Bool {
        guard scalar >= 0x300, let scalar = Unicode.Scalar(scalar) else { return false }
        return scalar.properties.canonicalCombiningClass != .notReordered
            || [0x0F73, 0x0F75, 0x0F81].contains(scalar.value)
    }
}

extension String {
    /// Decodes the value of a header field: UTF-8, or ISO 8859-1 if the bytes are not UTF-8 or have too many combining
    /// marks in a row. ISO 8859-1 has no combining marks.
    package init(fieldValue bytes: some Collection<UInt8>) {
        // If bytes are not UTF-8, decoding replaces them, so that the text differs from the original bytes.
        // (Foundation's initializer would remove a byte order mark.)
        let text = String(decoding: bytes, as: UTF8.self)
        let isText = text.utf8.elementsEqual(bytes) && CombiningMarks.areFew(in: text)
        self = isText ? text : String(decoding: bytes.map(UInt16.init), as: UTF16.self)
    }
}
