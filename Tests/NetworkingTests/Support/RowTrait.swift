import Testing

/// The rows that a test covers: `I-20`, `N-05`, `R-14` and `P-08` of the migration guides' tables, `L17` of the article
/// *URLSession on Linux*.
struct RowTrait: TestTrait, SuiteTrait {
    let rows: [String]
}

extension Trait where Self == RowTrait {
    /// The rows that a test covers.
    static func row(_ rows: String...) -> RowTrait { RowTrait(rows: rows) }
}
