// SPDX-License-Identifier: Apache-2.0
// Empty: the library of this file contains the tests' precompiled headers.
