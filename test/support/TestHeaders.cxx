// SPDX-License-Identifier: Apache-2.0
// Nothing: the library of this file holds the precompiled headers of the tests.
