#if canImport(Darwin)
    import Foundation

    extension NSNumber {
        /// Whether the number is a Boolean. A Boolean is an object of another class; its C type is the same as that of
        /// an `Int8`.
        var isTruthValue: Bool { CFGetTypeID(self) == CFBooleanGetTypeID() }
    }
#endif
