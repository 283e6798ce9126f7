/** Several files of cases about credentials use this. */

/** The value of Authorization for a user and a password, `user:password`. */
export const basicFor = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
