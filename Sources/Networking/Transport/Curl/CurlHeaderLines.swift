#if os(Linux)
    import CLibcurl

    /// Header lines as a linked list for libcurl. The nodes of the list and the text of the lines are in one block of
    /// memory.
    final class CurlHeaderLines {
        private typealias Node = clibcurl_slist

        private var block = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 16)

        deinit {
            block.deallocate()
        }

        /// Creates a list.
        ///
        /// - Parameter lines: The lines to write immediately. Default: none.
        init(_ lines: [String] = []) {
            list = nil
            if !lines.isEmpty { list = write([], and: lines) }
        }

        /// The list of the lines that were passed to ``init(_:)``; nil if there were none.
        private(set) var list: UnsafeRawPointer?

        /// Writes the lines.
        ///
        /// - Returns: The list, which is valid until the next call; nil if there are no lines.
        func write(_ headers: HTTPHeaders, and more: [String]) -> UnsafeRawPointer? {
            let count = headers.count + more.count
            guard count > 0 else { return nil }
            let nodes = count * MemoryLayout<Node>.stride
            makePlace(
                for: headers.reduce(nodes) { $0 + CurlHeaderLines.size($1) }
                    + more.reduce(0) { $0 + $1.utf8.count + 1 })
            var end = nodes
            var index = 0
            for field in headers {
                link(index, to: end, isLast: index == count - 1)
                append(field.name.rawValue, at: &end)
                // libcurl sends a name with a semicolon as a field without a value. With a colon, it would omit the
                // field.
                append(field.value.isEmpty ? ";" : ": ", at: &end)
                append(field.value, at: &end)
                terminate(at: &end)
                index += 1
            }
            for line in more {
                link(index, to: end, isLast: index == count - 1)
                append(line, at: &end)
                terminate(at: &end)
                index += 1
            }
            return UnsafeRawPointer(block.baseAddress)
        }

        private static func size(_ field: HTTPHeader) -> Int {
            field.name.rawValue.utf8.count + field.value.utf8.count + 3
        }

        private func makePlace(for size: Int) {
            guard size > block.count else { return }
            block.deallocate()
            block = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, 2 * block.count), alignment: 16)
        }

        private func link(_ index: Int, to position: Int, isLast: Bool) {
            // The block is never empty, so it has an address.
            guard let base = block.baseAddress else { return }
            let stride = MemoryLayout<Node>.stride
            let next = isLast ? nil : (base + (index + 1) * stride).assumingMemoryBound(to: Node.self)
            let text = (base + position).assumingMemoryBound(to: CChar.self)
            (base + index * stride).initializeMemory(as: Node.self, to: Node(data: text, next: next))
        }

        private func append(_ text: String, at end: inout Int) {
            var text = text
            text.withUTF8 { bytes in
                UnsafeMutableRawBufferPointer(rebasing: block[end...]).copyMemory(from: UnsafeRawBufferPointer(bytes))
                end += bytes.count
            }
        }

        private func terminate(at end: inout Int) {
            block[end] = 0
            end += 1
        }
    }
#endif
