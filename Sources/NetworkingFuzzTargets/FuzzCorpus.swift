import Foundation

/// The inputs with which fuzzing begins: a folder for each target, next to this file.
package enum FuzzCorpus {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Corpus")

    /// Returns the inputs of a target, in the order of their names.
    ///
    /// - Throws: `CocoaError` if the sources are no longer where they were compiled.
    package static func inputs(of target: FuzzTarget) throws -> [[UInt8]] {
        let folder = folder.appendingPathComponent(target.name)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
        }
    }
}
