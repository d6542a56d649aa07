#if os(Linux)
    extension CurlHandle {
        /// What all handles of a loop have in common.
        final class Surroundings {
            let configuration: CurlTransport.Configuration
            let library: CurlLibrary
            let sockets: CurlSockets
            let share: CurlShare
            let memory = CurlHandleMemory.Pool()
            let addresses: CurlAddresses
            let isDirect: Bool

            init(_ configuration: CurlTransport.Configuration, _ library: CurlLibrary) throws {
                self.configuration = configuration
                self.library = library
                sockets = try CurlSockets(configuration)
                share = try CurlShare()
                addresses = CurlAddresses(configuration)
                isDirect = configuration.proxy == .direct
            }
        }
    }
#endif
