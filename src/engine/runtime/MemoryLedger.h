// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MemoryLedger_h
#define gpureg_MemoryLedger_h

#include <cstddef>
#include <map>
#include <string>

namespace gpureg
{

/** Follows the arrays of a method as it reserves and frees them, by the rules of Reserve() and ReserveExactly(), without a device. A plan
 *  of a method takes the steps of the method, and each class writes down its own arrays. Arrays have names, which are of any kind. */
class MemoryLedger
{
public:
  /** Arrays by their names, and their bytes. */
  using Arrays = std::map<std::string, std::size_t>;

  /** \param keepsLarger whether ReserveExactly() keeps larger arrays, as Queue::KeepLargerArrays() makes it */
  explicit MemoryLedger(bool keepsLarger)
    : m_KeepsLarger(keepsLarger)
  {}

  /** Writes down what gpureg::Reserve() does: the array grows, if it is smaller. */
  void
  Reserve(const std::string & array, std::size_t bytes);

  /** Writes down what gpureg::ReserveExactly() does. */
  void
  ReserveExactly(const std::string & array, std::size_t bytes);

  void
  Free(const std::string & array);

  /** Writes down that all arrays whose names begin with a text are freed. */
  void
  FreeAll(const std::string & beginning);

  /** Writes down an array that is freed before the next one is reserved. */
  void
  Touch(const std::string & array, std::size_t bytes);

  /** Returns the bytes of an array; 0 if there is none. */
  std::size_t
  GetSize(const std::string & array) const;

  /** Returns the bytes that are held now. */
  std::size_t
  GetHeld() const
  {
    return m_Held;
  }

  /** Returns the most bytes that were held at once since BeginLevel(). */
  std::size_t
  GetMostOfLevel() const
  {
    return m_MostOfLevel;
  }
  void
  BeginLevel()
  {
    m_MostOfLevel = m_Held;
  }

  /** Returns the most bytes that were held at once. */
  std::size_t
  GetMost() const
  {
    return m_Most;
  }

  /** Returns what was held then. */
  const Arrays &
  GetArraysOfMost() const
  {
    return m_ArraysOfMost;
  }

private:
  void
  Set(const std::string & array, std::size_t bytes);

  bool        m_KeepsLarger;
  Arrays      m_Arrays;
  Arrays      m_ArraysOfMost;
  std::size_t m_Held = 0;
  std::size_t m_MostOfLevel = 0;
  std::size_t m_Most = 0;
};

} // namespace gpureg

#endif
