import Foundation
import Networking

extension FuzzTarget {
    /// A JSON text of any kind. Foundation also accepts each text that the library accepts. The value does not change
    /// if it is written and read again, unless it is nested too deep to be written.
    static let jsonTexts = FuzzTarget("json-texts") { input in
        let text = Data(input.bytes)
        guard let value = try? JSONValue(json: text) else {
            return try require((try? JSONValue(shallowJSON: text)) == nil, "a smaller limit reads more")
        }
        try require(
            (try? JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)) != nil,
            "Foundation does not read the text")
        let written: Data
        do { written = try JSONEncoder().encode(value) } catch let error as EncodingError {
            let isDeep = "\(error)".contains("more than 64 levels deep")
            return try require(isDeep && (try? JSONValue(shallowJSON: text)) == nil, "\(error)")
        }
        let again = try? JSONValue(json: written)
        try require(again == value, "\(String(decoding: written, as: UTF8.self)) is read as \(again as Any)")
    }
}
