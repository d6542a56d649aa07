import Foundation

/// A charset with its [IANA name](https://www.iana.org/assignments/character-sets) and its Foundation encoding.
struct CharacterSetName {
    let name: String
    let encoding: String.Encoding

    /// Finds the charset with this name, ignoring case. Returns nil if the name is not in the table.
    init?(_ name: String) {
        let lowercased = name.lowercased()
        guard let entry = Self.table.first(where: { $0.names.contains(lowercased) }) else { return nil }
        self.name = entry.names[0]
        self.encoding = entry.encoding
    }

    /// Finds the charset of a Foundation encoding. Returns nil if the encoding is not in the table.
    init?(_ encoding: String.Encoding) {
        guard let entry = Self.table.first(where: { $0.encoding == encoding }) else { return nil }
        self.name = entry.names[0]
        self.encoding = encoding
    }

    private static let table: [(names: [String], encoding: String.Encoding)] = [
        (["utf-8", "utf8"], .utf8),
        (["us-ascii", "ascii"], .ascii),
        (["iso-8859-1", "latin1", "iso_8859-1"], .isoLatin1),
        (["iso-8859-2", "latin2", "iso_8859-2"], .isoLatin2),
        (["windows-1252", "cp1252"], .windowsCP1252),
        (["windows-1251", "cp1251"], .windowsCP1251),
        (["windows-1250", "cp1250"], .windowsCP1250),
        (["windows-1253", "cp1253"], .windowsCP1253),
        (["windows-1254", "cp1254"], .windowsCP1254),
        (["utf-16"], .utf16),
        (["utf-16be"], .utf16BigEndian),
        (["utf-16le"], .utf16LittleEndian),
        (["utf-32"], .utf32),
        (["shift_jis", "shift-jis"], .shiftJIS),
        (["euc-jp"], .japaneseEUC),
        (["iso-2022-jp"], .iso2022JP),
        (["macintosh"], .macOSRoman),
    ]
}
