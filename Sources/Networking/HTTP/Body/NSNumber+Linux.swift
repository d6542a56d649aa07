#if !canImport(Darwin)
    import Foundation

    extension NSNumber {
        /// Whether it is a truth value. Foundation on Linux cannot tell it from an `Int8` of 0 or 1.
        var isTruthValue: Bool {
            let type = String(cString: objCType)
            return type == "B" || type == "c" && (0...1).contains(intValue)
        }
    }
#endif
