import Testing

/// The table rows that a test covers, such as `I-20`, `N-05`, `R-14` or `P-08` in the migration guides, or `L17` in the
/// article *URLSession on Linux*.
struct RowTrait: TestTrait, SuiteTrait {
    let rows: [String]
}

extension Trait where Self == RowTrait {
    /// The rows that a test covers.
    static func row(_ rows: String...) -> RowTrait { RowTrait(rows: rows) }
}
