// SPDX-License-Identifier: Apache-2.0
// Tests that memory that idle engines hold for an ITK object is freed with the object, even if other code removes its observers.
#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/runtime/EngineUser.h"

#include "itkObject.h"
#include "itkObjectFactory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace gpuregtest
{
namespace
{
using itk::GPURegistrationDetail::DropIdleEnginesWith;

/** An engine that holds one byte of the host. */
class FakeEngine : public gpureg::Engine
{
public:
  FakeEngine()
  {
    ++alive;
  }
  ~FakeEngine() override
  {
    --alive;
  }
  const std::string &
  GetDeviceName() const override
  {
    static const std::string name = "host";
    return name;
  }
  std::size_t
  GetHeldBytes() const override
  {
    return 1;
  }
  bool
  Holds(const gpureg::Key &) const override
  {
    return false;
  }

  static std::atomic<int> alive;
};

std::atomic<int> FakeEngine::alive{ 0 };

/** Objects that all are allocated at the same address, one after the other. */
class PlacedObject : public itk::Object
{
public:
  using Self = PlacedObject;
  using Pointer = itk::SmartPointer<Self>;
  static Pointer
  New()
  {
    Pointer made = new (storage) Self;
    made->UnRegister();
    return made;
  }
  static void *
  operator new(std::size_t, void * place)
  {
    return place;
  }
  static void
  operator delete(void *)
  {}

private:
  alignas(itk::Object) static unsigned char storage[sizeof(itk::Object)];
};

alignas(itk::Object) unsigned char PlacedObject::storage[sizeof(itk::Object)];

/** Holds memory for an object, as filters do for their inputs and outputs. */
void
Keep(const itk::Object & object)
{
  DropIdleEnginesWith(object);
  gpureg::StoreIdleEngine(std::make_unique<FakeEngine>(), &object);
}

class DeviceUse : public testing::Test
{
protected:
  ~DeviceUse() override
  {
    gpureg::ReleaseIdleMemory("host");
  }
};

TEST_F(DeviceUse, EnginesGoWithTheirObject)
{
  auto object = itk::Object::New();
  Keep(*object);
  Keep(*object);
  EXPECT_EQ(FakeEngine::alive, 2);
  object = nullptr;
  EXPECT_EQ(FakeEngine::alive, 0);
}

TEST_F(DeviceUse, EnginesGoWithAnObjectWhoseObserversWereRemoved)
{
  auto object = itk::Object::New();
  Keep(*object);
  object->RemoveAllObservers();
  Keep(*object);
  EXPECT_EQ(FakeEngine::alive, 2);
  object = nullptr;
  EXPECT_EQ(FakeEngine::alive, 0);
}

TEST_F(DeviceUse, AnObjectIsNotTakenForOneThatWasWhereItIs)
{
  auto               object = PlacedObject::New();
  const void * const place = object.GetPointer();
  Keep(*object);
  // The object is deleted without a notification.
  object->RemoveAllObservers();
  object = nullptr;
  EXPECT_EQ(FakeEngine::alive, 1);
  // Another object has its address, and an observer with the same tag.
  object = PlacedObject::New();
  ASSERT_EQ(place, object.GetPointer());
  bool isSaid = false;
  object->AddObserver(itk::DeleteEvent(), [&isSaid](const itk::EventObject &) { isSaid = true; });
  Keep(*object);
  EXPECT_EQ(FakeEngine::alive, 2);
  object = nullptr;
  EXPECT_TRUE(isSaid);
  EXPECT_EQ(FakeEngine::alive, 0) << "memory held for the first one is freed with the second";
}

TEST_F(DeviceUse, ThreadsMayUseOneObject)
{
  for (int round = 0; round < 50; ++round)
  {
    auto                     object = itk::Object::New();
    std::atomic<int>         waiting{ 4 };
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n)
    {
      threads.emplace_back([&] {
        --waiting;
        while (waiting > 0)
        {
          std::this_thread::yield();
        }
        Keep(*object);
      });
    }
    for (std::thread & thread : threads)
    {
      thread.join();
    }
    EXPECT_EQ(FakeEngine::alive, 4);
    object = nullptr;
    EXPECT_EQ(FakeEngine::alive, 0);
  }
}

} // namespace
} // namespace gpuregtest
