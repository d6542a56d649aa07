import Foundation
import Networking

extension FuzzTarget {
    /// A JSON text of any kind. Foundation also accepts each text that the library accepts. The value does not change
    /// if it is written and read again.
    static let jsonTexts = FuzzTarget("json-texts") { input in
        let text = Data(input.bytes)
        guard let value = try? JSONValue(json: text) else {
            return try require((try? JSONValue(shallowJSON: text)) == nil, "a smaller limit reads more")
        }
        try require(
            (try? JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)) != nil,
            "Foundation does not read the text")
        let written = try JSONEncoder().encode(value)
        let again = try? JSONValue(json: written)
        try require(again == value, "\(String(decoding: written, as: UTF8.self)) is read as \(again as Any)")
    }
}
