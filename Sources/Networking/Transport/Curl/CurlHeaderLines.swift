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
            headers.withFields { write($0, and: more) }
        }

        private func write(_ fields: UnsafeBufferPointer<HTTPHeader>, and more: [String]) -> UnsafeRawPointer? {
            let count = fields.count + more.count
            guard count > 0 else { return nil }
            let nodes = count * MemoryLayout<Node>.stride
            var size = nodes
            for index in fields.indices { size += CurlHeaderLines.size(fields[index]) }
            for index in more.indices { size += more[index].utf8.count + 1 }
            reserve(for: size)
            var end = nodes
            for index in fields.indices {
                link(index, to: end, isLast: index == count - 1)
                append(fields[index].name.rawValue, at: &end)
                // libcurl sends a name with a semicolon as a field without a value. If a colon followed the name,
                // libcurl would omit the field.
                append(fields[index].value.isEmpty ? ";" : ": ", at: &end)
                append(fields[index].value, at: &end)
                terminate(at: &end)
            }
            for index in more.indices {
                link(fields.count + index, to: end, isLast: fields.count + index == count - 1)
                append(more[index], at: &end)
                terminate(at: &end)
            }
            return UnsafeRawPointer(block.baseAddress)
        }

        /// Overwrites the lines, which may contain credentials.
        ///
        /// - Returns: Whether the block has its initial size.
        func clear() -> Bool {
            block.initializeMemory(as: UInt8.self, repeating: 0)
            return block.count == 512
        }

        private static func size(_ field: HTTPHeader) -> Int {
            field.name.rawValue.utf8.count + field.value.utf8.count + 3
        }

        private func reserve(for size: Int) {
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
            let start = end
            // Writes the bytes directly, because a copy of the text would have to be retained and released.
            let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
                UnsafeMutableRawBufferPointer(rebasing: block[start...]).copyMemory(from: UnsafeRawBufferPointer(bytes))
            }
            end += text.utf8.count
            if isWritten == nil { for (index, byte) in text.utf8.enumerated() { block[start + index] = byte } }
        }

        private func terminate(at end: inout Int) {
            block[end] = 0
            end += 1
        }
    }
#endif
