/** These packages bring no types. */
declare module 'express-session'
declare module 'passport'
declare module 'passport-local'
