#if canImport(Security)
    public import Foundation
    import Security

    /// Keeps a token in the keychain: encrypted, on this device only, readable after the first unlock.
    ///
    /// ```swift
    /// let store = KeychainTokenStore(service: "com.example.app")
    /// let session = AccessTokenSupervisor(store: store) { old in try await signIn.refresh(old) }
    /// ```
    ///
    /// An app and its extensions share a token through an access group (the Keychain Sharing capability, or an app
    /// group). They also need a file in a folder that they share, so that only one of them refreshes at a time:
    ///
    /// ```swift
    /// let group = "group.com.example"
    /// guard let shared = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else { … }
    /// let store = KeychainTokenStore(
    ///     service: "com.example.app", accessGroup: group, lease: shared.appending(path: "token.lease"))
    /// ```
    ///
    /// On a Mac, the program has to be signed with an application identifier; another one gets
    /// `errSecMissingEntitlement`.
    ///
    /// Errors are `NSError` in the domain `NSOSStatusErrorDomain` with the keychain's code, such as
    /// `errSecInteractionNotAllowed` before the first unlock.
    public struct KeychainTokenStore: AccessTokenStore {
        private let item: [String: String]
        private let lease: FileLease?

        /// Makes a store. Nothing is read or written yet.
        ///
        /// - Parameters:
        ///   - service: The item's service, such as the app's bundle identifier.
        ///   - account: The item's account, for an app with several sessions.
        ///   - accessGroup: The group that shares the item; nil for the app's own.
        ///   - lease: A file that processes which share the item also share; nil if only this process refreshes.
        ///   - length: How long a process that was ended while it refreshed keeps others from it.
        ///   - clock: The clock by which the lease is measured.
        public init(
            service: String, account: String = "access token", accessGroup: String? = nil, lease: URL? = nil,
            length: Duration = .seconds(20), clock: NetworkClock = .continuous
        ) {
            var item = [
                kSecClass as String: kSecClassGenericPassword as String, kSecAttrService as String: service,
                kSecAttrAccount as String: account,
            ]
            item[kSecAttrAccessGroup as String] = accessGroup
            self.item = item
            self.lease = lease.map { FileLease(path: $0.path, length: length, clock: clock) }
        }

        /// The item's attributes as a query. On a Mac, too, it is the keychain that iOS has.
        private func query(_ more: [String: Any] = [:]) -> CFDictionary {
            var query: [String: Any] = item
            query[kSecUseDataProtectionKeychain as String] = true
            return query.merging(more) { $1 } as CFDictionary
        }

        /// Reads the item; nil if there is none.
        public func load() throws -> AccessToken? {
            var found: CFTypeRef?
            let more: [String: Any] = [
                kSecReturnData as String: true, kSecMatchLimit as String: kSecMatchLimitOne as String,
            ]
            let status = SecItemCopyMatching(query(more), &found)
            guard status != errSecItemNotFound else { return nil }
            try check(status)
            guard let data = found as? Data else { throw KeychainTokenStore.error(errSecDecode) }
            return try JSONDecoder().decode(AccessToken.self, from: data)
        }

        /// Changes the item or adds it; removes it if there is no token. Processes that share the item compare and
        /// write under the lock of the lease.
        public func save(_ token: AccessToken?, replacing expected: AccessToken?) throws -> Bool {
            guard let lease else { return try replace(expected, with: token) }
            return try lease.locked { _ in try replace(expected, with: token) }
        }

        private func replace(_ expected: AccessToken?, with token: AccessToken?) throws -> Bool {
            guard try load() == expected else { return false }
            try write(token)
            return true
        }

        private func write(_ token: AccessToken?) throws {
            guard let token else {
                let status = SecItemDelete(query())
                return try check(status == errSecItemNotFound ? errSecSuccess : status)
            }
            let values: [String: Any] = [
                kSecValueData as String: try JSONEncoder().encode(token),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String,
            ]
            var status = SecItemUpdate(query(), values as CFDictionary)
            if status == errSecItemNotFound { status = SecItemAdd(query(values), nil) }
            // Another process has added it in between.
            if status == errSecDuplicateItem { status = SecItemUpdate(query(), values as CFDictionary) }
            try check(status)
        }

        /// Runs the operation while this process has the lease; at once if the store has none.
        public func exclusively<Value: Sendable>(
            _ operation: @escaping @Sendable () async throws -> Value
        ) async throws -> Value {
            guard let lease else { return try await operation() }
            return try await lease.hold(operation)
        }

        private func check(_ status: OSStatus) throws {
            guard status != errSecSuccess else { return }
            throw KeychainTokenStore.error(status)
        }

        private static func error(_ status: OSStatus) -> NSError {
            NSError(domain: NSOSStatusErrorDomain, code: Int(status))
        }
    }
#endif
