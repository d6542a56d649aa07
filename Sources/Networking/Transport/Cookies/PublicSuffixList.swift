public import Foundation

extension CookieJar {
    /// The domains under which anybody can register names, such as `co.uk` and `github.io`.
    ///
    /// A jar rejects cookies that are meant for all hosts of such a domain. The format is that of the
    /// [Public Suffix List](https://publicsuffix.org). The rules of both its sections (ICANN domains and private
    /// domains) apply. A single label, such as `com`, is a public suffix even without a rule.
    public struct PublicSuffixList: Sendable {
        private var rules: Set<String> = []
        /// The domains of wildcard rules, such as `kawasaki.jp` for the rule `*.kawasaki.jp`.
        private var wildcards: Set<String> = []
        /// The domains of exception rules, such as `city.kawasaki.jp` for the rule `!city.kawasaki.jp`.
        private var exceptions: Set<String> = []

        /// The list of Debian's package `publicsuffix`, read at the first use. It has no rules if the package is not
        /// installed.
        static let system: PublicSuffixList = {
            let url = URL(fileURLWithPath: "/usr/share/publicsuffix/public_suffix_list.dat")
            return (try? PublicSuffixList(contentsOf: url)) ?? PublicSuffixList("")
        }()

        /// Reads a list in the format of `public_suffix_list.dat`, for example from an app's bundle.
        ///
        /// - Throws: The error of `Data(contentsOf:)` if the file cannot be read.
        public init(contentsOf url: URL) throws {
            self.init(String(decoding: try Data(contentsOf: url), as: UTF8.self))
        }

        /// Reads the text of a list, which has one rule per line.
        package init(_ text: String) {
            for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
                add(Substring(line.prefix { !HTTPGrammar.isBlank($0) }))
            }
        }

        private mutating func add(_ rule: Substring) {
            guard !rule.isEmpty, !rule.hasPrefix("//"),
                let domain = HostName.canonical(String(rule.drop { "!*.".contains($0) }))
            else { return }
            switch rule.first {
            case "!": exceptions.insert(domain)
            case "*": wildcards.insert(domain)
            default: rules.insert(domain)
            }
        }

        /// Whether a domain, given in canonical form, is a public suffix.
        func contains(_ domain: String) -> Bool {
            let domain = domain.utf8.last == UInt8(ascii: ".") ? domain.dropLast() : domain[...]
            guard let dot = domain.firstIndex(of: ".") else { return true }
            if wildcards.contains(String(domain[domain.index(after: dot)...])) { return !isException(domain) }
            return rules.contains(String(domain)) && !isException(domain)
        }

        /// Returns the registrable domain to which a domain belongs: `shop.example` for `www.shop.example`.
        func site(of domain: String) -> String {
            guard !HostName.isAddress(domain) else { return domain }
            var site = domain[...]
            while let dot = site.firstIndex(of: ".") {
                let parent = site[site.index(after: dot)...]
                if contains(String(parent)) { break }
                site = parent
            }
            return String(site)
        }

        /// Whether an exception names the domain or a domain above it. Exceptions take precedence over all rules.
        private func isException(_ domain: Substring) -> Bool {
            var rest = domain
            while !exceptions.contains(String(rest)) {
                guard let dot = rest.firstIndex(of: ".") else { return false }
                rest = rest[rest.index(after: dot)...]
            }
            return true
        }
    }
}
