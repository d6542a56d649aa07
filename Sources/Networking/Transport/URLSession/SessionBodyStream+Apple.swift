#if canImport(Darwin)
    import Foundation

    /// A request's body as a stream for `URLSession`. The stream is the input stream of a bound pair of streams. This
    /// class writes the body to the output stream.
    ///
    /// All methods except ``close()`` and ``wake()`` run on the queue.
    final class SessionBodyStream: NSObject, StreamDelegate, @unchecked Sendable {  // because only the queue changes it
        let input: InputStream
        private let output: OutputStream
        private let queue: DispatchQueue
        private let onError: @Sendable (NetworkError) -> Void
        private var upload: StreamedUpload
        private var isOpen = true
        private var hasFailed = false

        /// Opens the body.
        ///
        /// - Parameters:
        ///   - request: The request with the body.
        ///   - queue: The queue on which the body is read.
        ///   - onError: A closure that is called on the queue with an error of the body.
        init(
            _ request: HTTPRequest, queue: DispatchQueue, onError: @escaping @Sendable (NetworkError) -> Void
        ) throws(NetworkError) {
            var input: InputStream?
            var output: OutputStream?
            Stream.getBoundStreams(withBufferSize: 65_536, inputStream: &input, outputStream: &output)
            guard let input, let output else {
                throw NetworkError(.bodyUnreadable, reason: "the body: the system has no memory for a stream")
            }
            self.input = input
            self.output = output
            self.queue = queue
            self.onError = onError
            let me = Weak<SessionBodyStream>()  // the reader of the body does not retain the stream
            upload = try StreamedUpload(request) { me.object?.wake() }
            super.init()
            me.object = self
            output.delegate = self
            CFWriteStreamSetDispatchQueue(output as CFWriteStream, queue)
            output.open()
        }

        deinit {
            output.delegate = nil
            CFWriteStreamSetDispatchQueue(output as CFWriteStream, nil)
            output.close()
            upload.close()
        }

        /// Writes more of the body, because its reader is ready.
        private func wake() {
            queue.async { self.write() }
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            switch event {
            case .hasSpaceAvailable: write()
            case .errorOccurred: hasFailed = true  // the session has closed the input stream, and reports why
            default: break
            }
        }

        private func write() {
            guard isOpen, !hasFailed else { return }
            do throws(NetworkError) {
                let status = try upload.run { [output] bytes in
                    guard output.hasSpaceAvailable, let start = bytes.bindMemory(to: UInt8.self).baseAddress else {
                        return 0
                    }
                    return max(output.write(start, maxLength: bytes.count), 0)
                }
                if status == .finished { end() }
            } catch {
                // The stream stays open until the task has ended, because `URLSession` treats the end of the stream as
                // the end of a complete body.
                hasFailed = true
                onError(error)
            }
        }

        /// Ends the body at its current position.
        func close() {
            queue.async { self.end() }
        }

        private func end() {
            guard isOpen else { return }
            isOpen = false
            upload.close()
            output.delegate = nil
            CFWriteStreamSetDispatchQueue(output as CFWriteStream, nil)
            output.close()
        }
    }
#endif
