import Foundation
import Testing

/// Checks that the code of the DocC articles and the README is compiled, and that their lists are complete.
@Suite("Documentation", .endsInTime)
struct DocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func files(_ folder: String, ending: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil
        ).filter { $0.lastPathComponent.hasSuffix(ending) }
    }

    /// The name and text of each Swift file below some folders.
    private static func swiftFiles(below folders: String...) throws -> [(name: String, text: String)] {
        var found: [(String, String)] = []
        for folder in folders {
            let files = FileManager.default.enumerator(
                at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                found.append((file.lastPathComponent, try String(contentsOf: file, encoding: .utf8)))
            }
        }
        return found
    }

    /// The code without comments, white space and the commas at the ends of lists: the lines of an article are shorter
    /// than those of a file.
    private static func code(_ code: Substring) -> String {
        lines(code).map { $0.replacing(/(^|\s)\/\/.*$/, with: "") }.joined().filter { !$0.isWhitespace }
            .replacing(/,([\])])/) { "\($0.output.1)" }
    }

    /// The code's lines without indentation, blank lines, imports and the marks where a snippet begins or ends.
    private static func lines(_ code: Substring) -> [String] {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { line in
                !line.isEmpty && !["import ", "@testable import ", "// snippet."].contains { line.hasPrefix($0) }
            }
    }

    @Test("Each Swift block of README and DocC is in a compiled file, except the blocks under \"Before\"")
    func blocks() throws {
        let compiled = try ["Tests/NetworkingTests/Documentation", "Tests/LoopbackTests/Documentation"]
            .flatMap { try Self.files($0, ending: ".swift") }
            .map { Self.code(Substring(try String(contentsOf: $0, encoding: .utf8))) }
        let articles = try Self.files("Sources/Networking/Documentation.docc", ending: ".md")
        #expect(articles.count >= 15)
        var count = 0
        for article in articles + [Self.root.appendingPathComponent("README.md")] {
            // Code under "Before" uses another library.
            let text = try String(contentsOf: article, encoding: .utf8)
                .replacing(/(?s)\*\*Before\*\*\n\n```swift\n.*?```/, with: "")
            for block in text.matches(of: /(?s)```swift\n(.*?)```/) {
                let wanted = Self.code(block.output.1)
                count += 1
                #expect(
                    compiled.contains { $0.contains(wanted) },
                    "\(article.lastPathComponent): not compiled: \(block.output.1.prefix(60))")
            }
        }
        #expect(count > 80)
    }

    @Test("The README has at most 1,300 words, its code needs at most 80 columns, and its links are valid")
    func readme() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(text.split(whereSeparator: \.isWhitespace).count <= 1_300)
        for line in text.split(separator: "\n") { #expect(line.hasPrefix("|") || line.count <= 120, "\(line)") }
        for block in text.matches(of: /(?s)```swift\n(.*?)```/) {
            for line in block.output.1.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
        let names = Set(text.matches(of: /\]\[(\w+)\]/).map { $0.output.1 })
        let targets = text.matches(of: /\n\[(\w+)\]: (\S+)/).map { $0.output }
        #expect(names == Set(targets.map { $0.1 }))
        for target in targets.map({ $0.2 }) + text.matches(of: /\]\(([^)]+)\)/).map({ $0.output.1 }) {
            let file = Self.root.appendingPathComponent(String(target))
            #expect(FileManager.default.fileExists(atPath: file.path), "\(target)")
        }
    }

    @Test("The example in the documentation of each extension point is compiled")
    func extensionPoints() throws {
        let file = Self.root.appendingPathComponent(
            "Tests/NetworkingTests/Documentation/ExtensionPointExamples.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let compiled = Self.lines(Substring(text)).joined(separator: "\n")
        let points = text.matches(of: /\/\/ snippet\.(\w+\/[\w\/+]+)/).map { String($0.output.1) }
        #expect(points.count >= 13)
        for point in points {
            let source = try String(
                contentsOf: Self.root.appendingPathComponent("Sources/Networking/\(point).swift"), encoding: .utf8)
            let comment = source.split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("///") }.map { $0.dropFirst(4) }.joined(
                    separator: "\n")
            let block = try #require(comment.firstMatch(of: /(?s)```swift\n(.*?)```/), "\(point) has no example")
            #expect(compiled.contains(Self.lines(block.output.1).joined(separator: "\n")), "\(point): not compiled")
        }
    }

    @Test("The guide from the four libraries has all 153 rows, each in the section of its library")
    func rows() throws {
        #expect(MigrationRows.all.map(\.rows.count) == [51, 43, 36, 23])
        let file = Self.root.appendingPathComponent(
            "Sources/Networking/Documentation.docc/ComingFromFourLibraries.md")
        let sections = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n## ").dropFirst()
        for (library, rows) in MigrationRows.all {
            let section = try #require(sections.first { $0.hasPrefix("\(library)\n") }, "\(library)")
            for row in rows { #expect(section.contains("\n| \(row.name) |"), "\(library): \(row)") }
        }
    }

    @Test("Each guide from another library shows code before and after, and those of libraries what stops the compiler")
    func beforeAndAfter() throws {
        let guides = try Self.files("Sources/Networking/Documentation.docc", ending: ".md").filter { file in
            ["MigratingFrom", "ComingFrom"].contains { file.lastPathComponent.hasPrefix($0) }
        }
        #expect(guides.count == 4)
        var words = 0
        for guide in guides {
            let text = try String(contentsOf: guide, encoding: .utf8)
            let before = text.matches(of: /\*\*Before\*\*\n\n```swift\n/).count
            #expect(before >= 1 && before == text.matches(of: /\*\*After\*\*\n\n```swift\n/).count)
            let count = Self.words(text)
            if text.contains("## What will stop the compiler") { words += count } else { #expect(count <= 700) }
        }
        #expect((1...7_500).contains(words))
    }

    @Test("The articles have at most 40,000 words in all, and the pages for servers and for other clients stay short")
    func articleWords() throws {
        let most = ["Servers": 1_200, "ComingFromURLSession": 700, "ComingFromAsyncHTTPClient": 700]
        var total = 0
        for article in try Self.files("Sources/Networking/Documentation.docc", ending: ".md") {
            let count = Self.words(try String(contentsOf: article, encoding: .utf8))
            total += count
            let limit = most[article.deletingPathExtension().lastPathComponent]
            #expect(count <= limit ?? .max, "\(article.lastPathComponent): \(count) words")
        }
        #expect((1...40_000).contains(total))
    }

    private static func words(_ text: String) -> Int { text.split(whereSeparator: \.isWhitespace).count }

    @Test("Each of the 153 rows of the migration guides, and each need found later, has a test", .row("P-23", "R-36"))
    func rowsHaveTests() throws {
        var tested: Set<String> = []
        for (_, text) in try Self.swiftFiles(below: "Tests/NetworkingTests", "Tests/LoopbackTests") {
            for trait in text.matches(of: /\.row\(([^)]*)\)/) {
                for row in trait.output.1.matches(of: /"([A-Z]-?\d+)"/) { tested.insert(String(row.output.1)) }
            }
        }
        for (guide, rows) in MigrationRows.all {
            #expect(rows.map(\.id).filter { !tested.contains($0) } == [], "\(guide): rows without a test")
        }
        let later = [
            "R-37", "R-38", "R-39", "R-40", "R-41", "R-42", "R-43", "I-52", "I-53", "I-54", "N-44", "N-45", "N-46",
            "N-47", "N-48", "N-49", "N-50",
        ]
        #expect(later.filter { !tested.contains($0) } == [], "needs of later readings without a test")
    }

    @Test("The article on URLSession on Linux has a row for each L number that a test or a source file names")
    func foundationRows() throws {
        let article = Self.root.appendingPathComponent(
            "Sources/Networking/Documentation.docc/URLSessionOnLinux.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let rows = text.matches(of: /\| (L\d+) \|/).map { String($0.output.1) }
        let listed = Set(rows)
        #expect(listed.count == 53 && rows.count == 53, "each row has a number of its own")
        for (file, text) in try Self.swiftFiles(
            below: "Tests/NetworkingTests", "Tests/LoopbackTests", "Sources/Networking")
        {
            for row in text.matches(of: /[("\s](L\d+)[)",;:]/) {
                #expect(listed.contains(String(row.output.1)), "\(file) names \(row.output.1)")
            }
        }
    }

    @Test("The code of the articles needs at most 68 columns, which is the width of a page")
    func columns() throws {
        for article in try Self.files("Sources/Networking/Documentation.docc", ending: ".md") {
            let text = try String(contentsOf: article, encoding: .utf8)
            for block in text.matches(of: /(?s)```\w*\n(.*?)```/) {
                for line in block.output.1.split(separator: "\n") {
                    #expect(line.count <= 68, "\(article.lastPathComponent): \(line)")
                }
            }
        }
    }

    @Test("Each example of the four libraries' documentation needs at most as many lines as there")
    func seedExamples() throws {
        let files = try Self.files("Tests/NetworkingTests/Documentation/SeedExamples", ending: ".swift")
        #expect(files.count == 4)
        var count = 0
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            for example in text.matches(of: /(?s)\/\/ example\.(\w+) (\d+)\n(.*?)\/\/ example\.end/) {
                let lines = Self.lines(example.output.3).filter { !$0.hasPrefix("//") }
                let most = try #require(Int(example.output.2))
                count += 1
                #expect(
                    !lines.isEmpty && lines.count <= most,
                    "\(file.lastPathComponent), \(example.output.1): \(lines.count) lines, \(most) there")
            }
        }
        #expect(count == 35)
    }

    @Test("There are at least 40 recipes, as many as the README says")
    func recipes() throws {
        let file = Self.root.appendingPathComponent("Sources/Networking/Documentation.docc/Recipes.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let count = text.components(separatedBy: "\n### ").count - 1
        let readme = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(count >= 40 && readme.contains("has \(count) tasks"))
    }
}
