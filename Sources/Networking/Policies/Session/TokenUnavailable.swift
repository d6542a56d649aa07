/// No token is available to repeat the request: a refresh failed meanwhile, or no token was ever set.
struct TokenUnavailable: Error {}

/// The session in which the call began has ended: the user has logged out, or another user has logged in.
struct SessionEnded: Error {}
